package gitops

import (
	"encoding/json"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// teams are scenarios of teams' applications while a window wants 5 replicas, each with its own namespace and
// repository.
var teams = map[string]func(w *scenario){
	"nothing-ignored":            (*scenario).nothingIgnored,
	"managers-not-respected":     func(w *scenario) { w.notRespected("managers-not-respected", ours) },
	"pointers-not-respected":     func(w *scenario) { w.notRespected("pointers-not-respected", pointers) },
	"managers-respected":         (*scenario).managersRespected,
	"managers-respected-applied": (*scenario).managersRespectedApplied,
	"third-manager":              (*scenario).thirdManager,
	"never-in-git":               (*scenario).neverInGit,
	"settings-taken-away":        (*scenario).settingsTakenAway,
	"path-legacy":                func(w *scenario) { w.safePath("path-legacy", modes[0]) },
	"path-apply":                 func(w *scenario) { w.safePath("path-apply", modes[1]) },
	"path-diff":                  func(w *scenario) { w.safePath("path-diff", modes[2]) },
	"selector-applied":           (*scenario).selectorApplied,
	"no-selector-apply":          func(w *scenario) { w.noSelector("no-selector-apply", modes[1]) },
	"no-selector-diff":           func(w *scenario) { w.noSelector("no-selector-diff", modes[2]) },
	"refused":                    (*scenario).refused,
	"to-v1beta1":                 func(w *scenario) { w.toV1beta1("to-v1beta1", modes[0]) },
	"to-v1beta1-apply":           func(w *scenario) { w.toV1beta1("to-v1beta1-apply", modes[1]) },
	"to-v1beta1-diff":            func(w *scenario) { w.toV1beta1("to-v1beta1-diff", modes[2]) },
	"paused-in-git":              (*scenario).pausedInGit,
	"paused-by-hand":             (*scenario).pausedByHand,
	"no-target":                  (*scenario).noTarget,
	"samples":                    (*scenario).samples,
}

// The state of the sync has the message of a refusal, by the API server or by Kyklos's webhook. The next retry takes a
// commit that corrects it.
func (w *scenario) refused() {
	const name = "refused"
	a, counts := w.starts(name, "")
	a.git.write(shop(name, "", "web:1", "  gracePeriodSeconds: -1"))
	a.git.push()
	a.refresh("normal")
	a.awaits("the schema's message", failing(`TimeWindowScaler.kyklos.io "web" is invalid: spec.gracePeriodSeconds: `+
		`Invalid value: -1: spec.gracePeriodSeconds in body should be greater than or equal to 0`))
	a.pushes(shop(name, "", "web:1", "  gracePeriodSeconds: 0"))
	second := strings.Replace(scaling("v1beta1", "Deployment", "web", 1, 9, ""), "name: web", "name: second", 1)
	a.git.write(map[string]string{name + "/second.yaml": second})
	a.git.push()
	a.refresh("normal")
	a.awaits("the webhook's message", failing(`TimeWindowScaler.kyklos.io "second" is invalid: spec.targetRef.name: Duplicate value: "web": `+
		`TimeWindowScaler "web" already scales Deployment "web"`))
	a.pushes(map[string]string{name + "/second.yaml": ""})
	w.expectReplicas(counts, 1, 5)
}

// failing reports whether a sync has failed with this message.
func failing(message string) func(view) bool {
	return func(v view) bool {
		return v.Sync == "OutOfSync" && v.Phase != "Succeeded" && strings.Contains(v.Message, message)
	}
}

// A file changes from v1alpha1 to v1beta1, and nothing else happens.
func (w *scenario) toV1beta1(name string, mode mode) {
	counts := w.followReplicas(name, "web")
	old := map[string]string{name + "/shop.yaml": namespace(name) + deployment("web", "", "web:1") + scaling("v1alpha1", "Deployment", "web", 3, 5, "")}
	w.git.write(old)
	revision := w.git.push()
	a := w.create(name, mode.change)
	a.settles(revision)
	w.awaitReplicas(counts, 5)
	target, scaler := w.object("apps/v1", "Deployment", name, "web"), w.object("kyklos.io/v1beta1", "TimeWindowScaler", name, "web")
	views := a.followViews()
	a.pushes(shop(name, "", "web:1", ""))
	a.refresh("hard")
	w.expectReplicas(counts, 1, 5)
	same(w, w.object("apps/v1", "Deployment", name, "web").GetResourceVersion(), target.GetResourceVersion())
	after := w.object("kyklos.io/v1beta1", "TimeWindowScaler", name, "web")
	same(w, after.GetGeneration(), scaler.GetGeneration())
	same(w, after.Object["status"], scaler.Object["status"])
	for _, v := range views.all() {
		if v.Health != "Healthy" {
			w.Errorf("Argo CD showed %+v", v)
		}
	}
}

// runs runs an action on the scaler as Argo CD's server does, with a merge patch.
func (w *scenario) runs(action, name string) {
	w.Helper()
	live := w.object("kyklos.io/v1beta1", "TimeWindowScaler", name, "web")
	spec := act(w, action, toJSON(w, live.Object))["spec"].(map[string]any)
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"pause": spec["pause"]}})
	w.Must(err)
	w.Must(w.Client.Patch(w.Context(), live, client.RawPatch("application/merge-patch+json", patch), client.FieldOwner("argocd-server")))
}

func (w *scenario) paused(name string) bool {
	pause, _, _ := unstructured.NestedBool(w.object("kyklos.io/v1beta1", "TimeWindowScaler", name, "web").Object, "spec", "pause")
	return pause
}

// If pause is in Git, Git wins over the action.
func (w *scenario) pausedInGit() {
	const name = "paused-in-git"
	a, _ := w.starts(name, "")
	a.pushes(shop(name, "", "web:1", "  pause: false"))
	w.runs("pause", name)
	w.Eventually("self-heal", func() error {
		if w.paused(name) {
			return errors.New("it is paused")
		}
		return nil
	})
	w.git.write(shop(name, "", "web:1", "  pause: true"))
	w.git.push()
	a.refresh("normal")
	a.awaits("Suspended", func(v view) bool { return v.Sync == "Synced" && v.Health == "Suspended" })
}

// If pause is not in Git, the actions decide.
func (w *scenario) pausedByHand() {
	const name = "paused-by-hand"
	a, counts := w.starts(name, "")
	w.runs("pause", name)
	a.awaits("Suspended", func(v view) bool { return v.Sync == "Synced" && v.Health == "Suspended" })
	w.kubectlScale(name, "web", "7")
	w.git.write(shop(name, "", "web:2", ""))
	revision := w.git.push()
	a.refresh("normal")
	a.awaits("a sync", func(v view) bool { return v.Sync == "Synced" && v.Revision == revision && v.Phase == "Succeeded" })
	same(w, w.paused(name), true)
	w.expectReplicas(counts, 1, 5, 7)
	w.runs("resume", name)
	a.awaits("Healthy", func(v view) bool { return v.Sync == "Synced" && v.Health == "Healthy" })
	w.awaitReplicas(counts, 1, 5, 7, 5)
}

// A missing target makes the application Degraded.
func (w *scenario) noTarget() {
	const name = "no-target"
	w.git.write(map[string]string{name + "/shop.yaml": namespace(name) + scaling("v1beta1", "Deployment", "web", 1, 5, "")})
	w.git.push()
	a := w.create(name)
	a.awaits("Degraded", func(v view) bool { return v.Sync == "Synced" && v.Health == "Degraded" })
	same(w, w.reason(name, "web", v1beta1.ConditionReady), v1beta1.ReasonTargetNotFound)
	a.pushes(shop(name, "", "web:1", ""))
}
