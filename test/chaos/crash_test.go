package chaos

import (
	"context"
	"flag"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// crashes selects the part of the matrix to test.
var crashes = flag.String("crashes", "some", "some: a fixed part of the crash matrix; all: every point")

var victims = []*victim{
	{"manager", func(m moment) bool { return m.actor == "manager" && !m.reads }, killManager, 5, 46},
	{"store", func(m moment) bool { return m.stored && !m.reads }, killStore, 2, 18},
	{"mover", func(m moment) bool { return m.actor == "mover" }, nil, 3, 16},
}

// TestCrashes kills the manager, the store and the movers before and after every request by which they change
// something. After each kill nothing is lost and nothing is done twice. In each step of life, one Workspace shows which
// requests there are. Then many go through the step in parallel, each held at its own moment, and one kill hits all of
// them.
func TestCrashes(t *testing.T) {
	objects, err := harness.StartObjectStore(t.Context(), filepath.Join(t.TempDir(), "store"), nil)
	harness.Must(t, err)
	t.Cleanup(func() { _ = objects.Stop() })
	size := 1
	for _, v := range victims {
		size += v.size()
	}
	c := newCohort(t, size, objects)
	probe, others := c.names[:1], c.names[1:]
	of := map[*victim][]string{}
	for _, v := range victims {
		of[v], others = others[:v.size()], others[v.size():]
		for _, name := range of[v] {
			c.gate.victims[name] = v
		}
	}
	c.gate.killOne = func(name string, m moment) {
		if err := c.killMover(name, m.what == "PUT note"); err != nil {
			c.Errorf("%s, %s: %v", name, m, err)
		}
	}
	c.start()
	for _, s := range life {
		c.gate.reset(nil)
		c.runStep(s, probe, nil)
		baseline, _ := c.gate.history(probe[0])
		chosen := map[string]moment{}
		for _, v := range victims {
			v.choose(t, baseline, of[v], chosen)
		}
		c.gate.reset(chosen)
		c.runStep(s, c.names[1:], c.kill)
		_, hits := c.gate.history("")
		c.compare(s, chosen, hits)
	}
	c.checkRuns()
}

// size returns for how many Workspaces the victim is killed.
func (v *victim) size() int {
	if *crashes == "all" {
		return v.all
	}
	return v.some
}

// choose spreads the victim's moments over its Workspaces: all of them, or those around the deletion of a volume, a
// mover's progress report, and every kth of the rest.
func (v *victim) choose(t *testing.T, baseline []moment, names []string, chosen map[string]moment) {
	t.Helper()
	moments := slices.DeleteFunc(slices.Clone(baseline), func(m moment) bool {
		return !v.concerns(m) || m.what == "PUT note" && m.nth > 1 // their number depends on the time
	})
	if *crashes == "all" && len(moments) > len(names) {
		t.Errorf("%s: %d moments for %d Workspaces", v.name, len(moments), len(names))
	}
	var points []moment
	for i, m := range moments {
		if len(moments) <= len(names) {
			points = moments
			break
		}
		if m.what == "DELETE persistentvolumeclaims" {
			points = append(points, m)
			if !m.after && i > 0 {
				points = append(points, moments[i-1])
			}
		}
		if m.what == "PUT note" && !m.after && v.kill == nil {
			points = append(points, m)
		}
	}
	for k, left := 0, len(names)-len(points); k < left && len(points) < len(moments); k++ {
		if m := moments[k*len(moments)/left]; !slices.Contains(points, m) {
			points = append(points, m)
		}
	}
	for i, m := range points {
		chosen[names[i]] = m
	}
}

// compare reports the moments that did not occur.
func (c *cohort) compare(s step, chosen map[string]moment, hits []moment) {
	c.Helper()
	missing := 0
	for name, m := range chosen {
		if !slices.Contains(hits, m) {
			missing++
			c.Logf("%s: for %s, %s never occurred", s.name, name, m)
		}
	}
	c.Logf("%s: %d kills", s.name, len(chosen)-missing)
	// The number of status writes depends on what the manager sees at once.
	if 4*missing > len(chosen) {
		c.Errorf("%s: %d of %d moments did not occur", s.name, missing, len(chosen))
	}
}

// checkRuns checks that each process ran twice.
func (c *cohort) checkRuns() {
	c.Helper()
	for _, name := range c.names {
		if _, wrote := c.ledger.lookup(name); wrote != 2 {
			c.Errorf("%s wrote %d runs, want 2", name, wrote)
		}
	}
}

// kill kills the next victim for which a request is held.
func (c *cohort) kill() {
	for _, v := range victims {
		if c.gate.isHolding(v) {
			v.kill(c, func() { c.gate.release(v) })
			return
		}
	}
}

func killManager(c *cohort, dead func()) {
	c.Helper()
	m := c.managers[len(c.managers)-1]
	c.Must(m.Kill())
	dead()
	c.start()
}

func killStore(c *cohort, dead func()) {
	c.Helper()
	c.Must(c.ledger.store.Kill())
	dead()
	c.Must(c.ledger.store.Start(c.Context()))
}

// killMover kills the process of the running mover. A mover whose progress report is held does not wait for it, and may
// have ended.
func (c *cohort) killMover(name string, mayEnd bool) error {
	// The node may not have recorded the process yet.
	return wait.PollUntilContextTimeout(c.Context(), 20*time.Millisecond, harness.Patience, true, func(ctx context.Context) (bool, error) {
		var pods corev1.PodList
		err := admin.List(ctx, &pods, client.InNamespace(c.Namespace), client.MatchingLabels{"kyklos.io/workspace": name, "kyklos.io/role": "mover"})
		ended := mayEnd && !slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
			return pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning
		})
		return ended || slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
			return c.Cluster.KillContainer(&pod, pod.Spec.Containers[0].Name) == nil
		}), err
	})
}

// Two managers are active at the same time, as after a failed leader election.
func TestTwoManagers(t *testing.T) {
	c := newCohort(t, 1, store)
	c.start()
	c.start()
	for _, s := range life {
		c.runStep(s, c.names, nil)
	}
	c.checkRuns()
}
