package gitops

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// These are the rows of the table in docs/gitops.md.

// ours and pointers are two rules that ignore the replicas.
var (
	ours     = map[string]any{"managedFieldsManagers": []any{"kyklos-controller"}}
	pointers = map[string]any{"jsonPointers": []any{"/spec/replicas"}}
)

// shop is the content of a repository: a Deployment with these replicas, and a scaler that sets 5.
func shop(name, replicas, image, more string) map[string]string {
	return map[string]string{name + "/shop.yaml": namespace(name) + deployment("web", replicas, image) + scaling("v1beta1", "Deployment", "web", 3, 5, more)}
}

// starts creates the application with 2 replicas in Git and waits until Kyklos has scaled it.
func (w *scenario) starts(name, replicas string, changes ...change) (*application, *record[int64]) {
	w.Helper()
	counts := w.followReplicas(name, "web")
	w.git.write(shop(name, replicas, "web:1", ""))
	revision := w.git.push()
	a := w.create(name, changes...)
	a.settles(revision)
	w.awaitReplicas(counts, 5)
	return a, counts
}

// awaitReplicas waits until a target's replicas have had these values in this order, among others.
func (w *scenario) awaitReplicas(counts *record[int64], order ...int64) {
	w.Helper()
	w.Eventually("counts", func() error {
		left := order
		for _, count := range counts.all() {
			if len(left) > 0 && count == left[0] {
				left = left[1:]
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("got %v, want %v in this order", counts.all(), order)
		}
		return nil
	})
}

// expectReplicas checks that the replicas had exactly these values.
func (w *scenario) expectReplicas(counts *record[int64], order ...int64) {
	w.Helper()
	if got := counts.all(); !slices.Equal(got, order) {
		w.Errorf("replicas: got %v, want %v", got, order)
	}
}

// Self-heal reverts every write of Kyklos.
func (w *scenario) nothingIgnored() {
	const name = "nothing-ignored"
	counts := w.followReplicas(name, "web")
	w.git.write(shop(name, "2", "web:1", ""))
	w.git.push()
	w.create(name, without("spec", "ignoreDifferences"), options())
	w.awaitReplicas(counts, 2, 5, 2, 5)
}

// Self-heal keeps ignored replicas, and the next change in Git does not.
func (w *scenario) notRespected(name string, rule map[string]any) {
	a, counts := w.starts(name, "2", ignoring(rule), options())
	a.refresh("hard")
	w.expectReplicas(counts, 2, 5)
	a.pushes(shop(name, "2", "web:2", ""))
	w.awaitReplicas(counts, 2, 5, 2, 5)
}

// If they are respected, the replicas in Git have no effect, but removing them from Git means 1.
func (w *scenario) managersRespected() {
	const name = "managers-respected"
	a, counts := w.starts(name, "2", ignoring(ours))
	a.pushes(shop(name, "2", "web:2", ""))
	a.pushes(shop(name, "4", "web:2", ""))
	w.expectReplicas(counts, 2, 5)
	a.pushes(shop(name, "", "web:2", ""))
	w.awaitReplicas(counts, 2, 5, 1, 5)
}

// With server-side apply, a field is removed with its last owner, and Kyklos is one.
func (w *scenario) managersRespectedApplied() {
	const name = "managers-respected-applied"
	a, counts := w.starts(name, "2", ignoring(ours), modes[1].change)
	a.pushes(shop(name, "4", "web:2", ""))
	a.pushes(shop(name, "", "web:3", ""))
	w.expectReplicas(counts, 2, 5)
}

// A third manager's value is not ignored as Kyklos's, so Argo CD sets that of Git.
func (w *scenario) thirdManager() {
	const name = "third-manager"
	a, counts := w.starts(name, "2", ignoring(ours))
	w.git.write(shop(name, "2", "web:1", "  pause: true"))
	revision := w.git.push()
	a.refresh("normal")
	a.awaits("a paused scaler", func(v view) bool { return v.Sync == "Synced" && v.Revision == revision && v.Health == "Suspended" })
	w.kubectlScale(name, "web", "9")
	w.awaitReplicas(counts, 5, 9, 2)
}

// Without replicas in Git only Kyklos sets them, and nothing needs to be ignored.
func (w *scenario) neverInGit() {
	const name = "never-in-git"
	a, counts := w.starts(name, "", without("spec", "ignoreDifferences"), options())
	a.pushes(shop(name, "", "web:2", ""))
	a.set(without("spec", "ignoreDifferences"), options("ServerSideApply=true"))
	a.pushes(shop(name, "", "web:3", ""))
	w.expectReplicas(counts, 1, 5)
}

// safePath follows the steps of docs/gitops.md.
func (w *scenario) safePath(name string, mode mode) {
	before := func(object map[string]any) {
		mode.change(object)
		unstructured.RemoveNestedField(object, "spec", "ignoreDifferences")
	}
	counts := w.followReplicas(name, "web")
	w.git.write(map[string]string{name + "/shop.yaml": namespace(name) + deployment("web", "3", "web:1")})
	revision := w.git.push()
	a := w.create(name, before)
	a.settles(revision)
	a.set(mode.change) // 1: the settings
	a.settles(revision)
	a.pushes(shop(name, "3", "web:1", "")) // 2: the scaler
	w.awaitReplicas(counts, 3, 5)
	a.pushes(shop(name, "", "web:1", "")) // 3: no replicas in Git
	a.pushes(shop(name, "", "web:2", ""))
	a.refresh("hard")
	w.expectReplicas(counts, 3, 5)
}

// The settings must stay: Argo CD has recorded the replicas that it respected, and removes what it has recorded.
func (w *scenario) settingsTakenAway() {
	const name = "settings-taken-away"
	a, counts := w.starts(name, "2")
	a.pushes(shop(name, "", "web:2", ""))
	w.expectReplicas(counts, 2, 5)
	a.set(without("spec", "ignoreDifferences"), options())
	a.pushes(shop(name, "", "web:3", ""))
	w.awaitReplicas(counts, 2, 5, 1, 5)
}

// With server-side apply, a DaemonSet's node selector is one field with one owner.
func (w *scenario) selectorApplied() {
	const name = "selector-applied"
	suspended := w.followSuspended(name)
	w.git.write(map[string]string{name + "/shop.yaml": namespace(name) + daemonSet("agents") + scaling("v1beta1", "DaemonSet", "agents", 1, 0, "")})
	w.git.push()
	w.create(name, without("spec", "ignoreDifferences"), modes[1].change)
	w.awaitReplicas(suspended, 0, 1, 0, 1)
}

// Without a node selector nothing needs to be ignored in any mode.
func (w *scenario) noSelector(name string, mode mode) {
	suspended := w.followSuspended(name)
	plain := strings.Replace(daemonSet("agents"), "nodeSelector: {kubernetes.io/os: linux}", "", 1)
	w.git.write(map[string]string{name + "/shop.yaml": namespace(name) + plain + scaling("v1beta1", "DaemonSet", "agents", 1, 0, "")})
	revision := w.git.push()
	a := w.create(name, mode.change, without("spec", "ignoreDifferences"))
	started := a.settles(revision).Started
	w.awaitReplicas(suspended, 0, 1)
	a.refresh("hard")
	same(w, a.settles(revision).Started, started)
	w.expectReplicas(suspended, 0, 1)
}

// followSuspended records whether the DaemonSet was suspended, as 1 or 0.
func (w *scenario) followSuspended(namespace string) *record[int64] {
	w.Helper()
	return follow(w, "apps/v1", "DaemonSet", namespace, "agents", func(object *unstructured.Unstructured) int64 {
		selector, _, _ := unstructured.NestedStringMap(object.Object, "spec", "template", "spec", "nodeSelector")
		if _, suspended := selector["kyklos.io/suspended"]; suspended {
			return 1
		}
		return 0
	})
}
