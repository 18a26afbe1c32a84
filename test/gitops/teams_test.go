package gitops

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

func (w *world) ds(name string, m mode, rule map[string]any) {
	sel := `nodeSelector: {kubernetes.io/os: linux}`
	files := map[string]string{name + "/shop.yaml": namespace(name) + daemonSet("agents") + scaling("v1beta1", "DaemonSet", "agents", 1, 0, "")}
	w.git.write(files)
	w.git.push()
	var a *application
	if rule == nil {
		a = w.create(name, m.change, without("spec", "ignoreDifferences"))
	} else {
		rule["group"], rule["kind"] = "apps", "DaemonSet"
		a = w.create(name, m.change, put([]any{rule}, "spec", "ignoreDifferences"))
	}
	_ = sel
	sels := follow(w, "apps/v1", "DaemonSet", name, "agents", func(o *unstructured.Unstructured) string {
		s, _, _ := unstructured.NestedStringMap(o.Object, "spec", "template", "spec", "nodeSelector")
		b, _ := json.Marshal(s)
		return string(b)
	})
	views := a.followViews()
	a.awaits("x", func(v view) bool { return v.Started != "" })
	for range 4 {
		a.refresh("hard")
	}
	w.Logf("EXPERIMENT %s %v %v", name, sels.all(), views.all())
	mf, _ := json.Marshal(w.get("apps/v1", "DaemonSet", name, "agents").GetManagedFields())
	w.Logf("EXPERIMENT %s %s", name, mf)
}

// What the API server refuses, and with which words, is in the state of the sync.
func (w *world) invalid() {
	const name = "invalid"
	a, counts := w.starts(name, "")
	w.git.write(shop(name, "", "web:1", "  gracePeriodSeconds: -1"))
	w.git.push()
	a.refresh("normal")
	a.awaits("the message of the schema", func(v view) bool {
		return strings.Contains(v.Message, "spec.gracePeriodSeconds in body should be greater than or equal to 0")
	})
	w.git.write(shop(name, "", "web:1", "  holidays: {mode: treat-as-closed}"))
	w.git.push()
	a.refresh("normal")
	v := a.awaits("the message of a rule", func(v view) bool { return strings.Contains(v.Message, "holidays") })
	w.Logf("EXPERIMENT invalid %+v", v)
	w.holds(counts, 1, 5)
}

// The webhook's words, too.
func (w *world) secondScaler() {
	const name = "second-scaler"
	a, counts := w.starts(name, "")
	second := strings.Replace(scaling("v1beta1", "Deployment", "web", 1, 9, ""), "name: web", "name: second", 1)
	w.git.write(map[string]string{name + "/second.yaml": second})
	w.git.push()
	a.refresh("normal")
	v := a.awaits("the message of the webhook", func(v view) bool { return strings.Contains(v.Message, "TimeWindowScaler") && v.Phase != "Succeeded" })
	w.Logf("EXPERIMENT second %+v", v)
	w.holds(counts, 1, 5)
}

// A file of v1alpha1 becomes one of v1beta1, and nothing else happens.
func (w *world) toV1beta1() {
	const name = "to-v1beta1"
	counts := w.followReplicas(name, "web")
	old := map[string]string{name + "/shop.yaml": namespace(name) + deployment("web", "", "web:1") + scaling("v1alpha1", "Deployment", "web", 3, 5, "")}
	w.git.write(old)
	revision := w.git.push()
	a := w.create(name)
	a.settles(revision)
	w.sees(counts, 5)
	target, scaler := w.get("apps/v1", "Deployment", name, "web"), w.get("kyklos.io/v1beta1", "TimeWindowScaler", name, "web")
	views := a.followViews()
	a.pushes(shop(name, "", "web:1", ""))
	a.refresh("hard")
	w.holds(counts, 1, 5)
	same(w.T, w.get("apps/v1", "Deployment", name, "web").GetResourceVersion(), target.GetResourceVersion())
	after := w.get("kyklos.io/v1beta1", "TimeWindowScaler", name, "web")
	same(w.T, after.GetGeneration(), scaler.GetGeneration())
	same(w.T, after.Object["status"], scaler.Object["status"])
	for _, v := range views.all() {
		if v.Health != "Healthy" {
			w.Errorf("Argo CD showed %+v", v)
		}
	}
}

// pause runs an action on the scaler as Argo CD's server does: the difference is a merge patch.
func (w *world) runs(action, name string) {
	w.Helper()
	live := w.get("kyklos.io/v1beta1", "TimeWindowScaler", name, "web")
	spec := act(w.T, action, toJSON(w.T, live.Object))["spec"].(map[string]any)
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"pause": spec["pause"]}})
	w.must(err)
	w.must(w.admin.Patch(w.Context(), live, client.RawPatch("application/merge-patch+json", patch), client.FieldOwner("argocd-server")))
}

func (w *world) paused(name string) bool {
	pause, _, _ := unstructured.NestedBool(w.get("kyklos.io/v1beta1", "TimeWindowScaler", name, "web").Object, "spec", "pause")
	return pause
}

// Where Git says pause, Git wins over the action.
func (w *world) pausedInGit() {
	const name = "paused-in-git"
	a, _ := w.starts(name, "")
	a.pushes(shop(name, "", "web:1", "  pause: false"))
	w.runs("pause", name)
	w.eventually("self-heal", func() string {
		if w.paused(name) {
			return "it is paused"
		}
		return ""
	})
	w.git.write(shop(name, "", "web:1", "  pause: true"))
	w.git.push()
	a.refresh("normal")
	a.awaits("Suspended", func(v view) bool { return v.Sync == "Synced" && v.Health == "Suspended" })
}

// Where Git does not say pause, the actions have the word.
func (w *world) pausedByHand() {
	const name = "paused-by-hand"
	a, counts := w.starts(name, "")
	w.runs("pause", name)
	a.awaits("Suspended", func(v view) bool { return v.Sync == "Synced" && v.Health == "Suspended" })
	a.refresh("hard")
	w.kubectlScale(name, "web", "7")
	w.git.write(shop(name, "", "web:2", ""))
	revision := w.git.push()
	a.refresh("normal")
	a.awaits("a sync", func(v view) bool { return v.Sync == "Synced" && v.Revision == revision && v.Phase == "Succeeded" })
	w.Logf("EXPERIMENT paused-by-hand still paused: %v", w.paused(name))
	w.runs("resume", name)
	a.awaits("Healthy", func(v view) bool { return v.Sync == "Synced" && v.Health == "Healthy" })
	w.sees(counts, 1, 5, 7, 5)
}

// A target that does not come makes the application Degraded.
func (w *world) noTarget() {
	const name = "no-target"
	w.git.write(map[string]string{name + "/shop.yaml": namespace(name) + scaling("v1beta1", "Deployment", "web", 1, 5, "")})
	w.git.push()
	a := w.create(name)
	a.awaits("Degraded", func(v view) bool { return v.Sync == "Synced" && v.Health == "Degraded" })
	same(w.T, w.reason(name, "web", v1beta1.ConditionReady), v1beta1.ReasonTargetNotFound)
	a.pushes(shop(name, "", "web:1", ""))
	_ = slices.Contains[[]string]
}
