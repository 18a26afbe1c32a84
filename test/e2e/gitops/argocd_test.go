package gitops

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// One cluster for all subtests: starting it takes longer than any of them.
func TestArgoCD(t *testing.T) {
	if argoCD == "" {
		t.Skip("Argo CD is not built: run make test-argocd")
	}
	w := newScenario(t)
	for _, i := range installations {
		w.kyklos = w.render(i)
		for turn, mode := range modes {
			if !t.Run(i.name+"/"+mode.name, func(t *testing.T) {
				w.in(t).everythingStays("shop-"+i.name+"-"+mode.name, mode, func(inner *scenario) {
					if turn == 0 {
						inner.startManager(w, i)
					}
				})
			}) {
				t.FailNow() // Kyklos may not even run
			}
		}
	}
	w.clock("2025-01-28 10:00:00")
	t.Run("teams", func(t *testing.T) {
		for name, test := range teams {
			t.Run(name, func(t *testing.T) {
				t.Parallel() // most of it is waiting for Argo CD
				test(w.in(t))
			})
		}
	})
	t.Run("no-manager", func(t *testing.T) { w.in(t).noManager(w.manager) })
	t.Run("removed", func(t *testing.T) { w.in(t).removed() })
}

// mode is a way in which Argo CD compares and applies.
type mode struct {
	name   string
	change change
}

var modes = []mode{
	{"legacy", func(map[string]any) {}},
	{"server-side-apply", options(respect, "ServerSideApply=true")},
	{"server-side-diff", put(map[string]any{"argocd.argoproj.io/compare-options": "ServerSideDiff=true"}, "metadata", "annotations")},
}

// everythingStays has Kyklos, with its definition and webhooks, and its targets in one Application. It becomes Synced
// and Healthy and stays so whatever Kyklos writes: Argo CD sees no difference and applies nothing. meanwhile is called
// when the Application exists.
func (w *scenario) everythingStays(shop string, mode mode, meanwhile func(*scenario)) {
	w.clock("2025-01-27 08:00:00")
	w.git.write(map[string]string{
		shop + "/kyklos.yaml": w.kyklos,
		shop + "/shop.yaml": namespace(shop) + deployment("web", "", "web:1") + deployment("api", "", "api:1") + daemonSet("agents") +
			scaling("v1beta1", "Deployment", "web", 2, 5, "") + scaling("v1alpha1", "Deployment", "api", 1, 4, "") +
			scaling("v1beta1", "DaemonSet", "agents", 0, 1, ""),
	})
	revision := w.git.push()
	a := w.create(shop, mode.change)
	meanwhile(w)
	a.settles(revision)
	w.awaitShop(shop, 2, 1, 0)
	a.refresh("hard")
	synced := a.settles(revision)
	views, callers := a.followViews(), w.callers()
	for _, flip := range []struct {
		utc              string
		web, api, agents int64
	}{{"2025-01-27 10:00:00", 5, 4, 1}, {"2025-01-27 18:00:00", 2, 1, 0}} {
		w.clock(flip.utc)
		w.awaitShop(shop, flip.web, flip.api, flip.agents)
		a.refresh("hard")
		a.settles(revision)
	}
	for _, v := range views.all() {
		if v.Sync != "Synced" || v.Started != synced.Started || !slices.Contains([]string{"Healthy", "Progressing"}, v.Health) {
			w.Errorf("Argo CD showed %+v", v)
		}
	}
	same(w, w.callers(), callers)
}

// awaitShop waits until the shop's workloads have these replicas.
func (w *scenario) awaitShop(shop string, web, api, agents int64) {
	w.Helper()
	w.Eventually(fmt.Sprintf("%d, %d and %d in %s", web, api, agents, shop), func() error {
		replicas := func(name string) int64 {
			ready, _, _ := unstructured.NestedInt64(w.object("apps/v1", "Deployment", shop, name).Object, "status", "readyReplicas")
			return ready
		}
		running, _, _ := unstructured.NestedInt64(w.object("apps/v1", "DaemonSet", shop, "agents").Object, "status", "numberReady")
		if replicas("web") != web || replicas("api") != api || running != agents {
			return fmt.Errorf("got %d, %d and %d", replicas("web"), replicas("api"), running)
		}
		return nil
	})
}
