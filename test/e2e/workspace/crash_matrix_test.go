package workspace

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

// crashes says how much of the matrix is tested.
var crashes = flag.String("crashes", "some", "some: a fixed part of the crash matrix; all: every point")

var victims = []*victim{
	{"manager", func(m moment) bool { return m.actor == "manager" && !m.reads }, killManager, 5, 46},
	{"store", func(m moment) bool { return m.stored && !m.reads }, killStore, 2, 18},
	{"mover", func(m moment) bool { return m.actor == "mover" }, nil, 3, 16},
}

// TestCrashes kills the manager, the store and the movers before and after every request by which they
// change something, and checks after each that nothing is lost and nothing done twice. In each step of
// life, one Workspace shows which requests there are. Then many walk through it side by side, each held
// at its own moment: one blow hits all of them.
func TestCrashes(t *testing.T) {
	objects, err := harness.StartObjectStore(t.Context(), filepath.Join(t.TempDir(), "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = objects.Stop() })
	size := 1
	for _, v := range victims {
		size += v.size()
	}
	c := newCrew(t, size, objects)
	quiet, others := c.names[:1], c.names[1:]
	of := map[*victim][]string{}
	for _, v := range victims {
		of[v], others = others[:v.size()], others[v.size():]
		for _, name := range of[v] {
			c.gate.victims[name] = v
		}
	}
	c.gate.strike = func(name string, m moment) {
		if err := c.killMover(name, m.what == "PUT note"); err != nil {
			c.Errorf("%s, %s: %v", name, m, err)
		}
	}
	c.start()
	for _, s := range life {
		c.gate.next(nil)
		c.through(s, quiet, nil)
		calm, _ := c.gate.history(quiet[0])
		chosen := map[string]moment{}
		for _, v := range victims {
			v.choose(t, calm, of[v], chosen)
		}
		c.gate.next(chosen)
		c.through(s, c.names[1:], c.kill)
		_, struck := c.gate.history("")
		c.compare(s, chosen, struck)
	}
	c.twice()
}

// size is how many Workspaces the victim troubles.
func (v *victim) size() int {
	if *crashes == "all" {
		return v.all
	}
	return v.some
}

// choose spreads the victim's moments over its Workspaces: all, or those round the deletion of a volume, a
// mover's note, and of the others every kth.
func (v *victim) choose(t *testing.T, calm []moment, names []string, chosen map[string]moment) {
	t.Helper()
	moments := slices.DeleteFunc(slices.Clone(calm), func(m moment) bool {
		return !v.concerns(m) || m.what == "PUT note" && m.nth > 1 // how many there are, the clock decides
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

// compare tells which moments did not come.
func (c *crew) compare(s step, chosen map[string]moment, struck []moment) {
	c.Helper()
	missing := 0
	for name, m := range chosen {
		if !slices.Contains(struck, m) {
			missing++
			c.Logf("%s: for %s, %s never came", s.name, name, m)
		}
	}
	c.Logf("%s: %d blows", s.name, len(chosen)-missing)
	// How often a status is written differs with what the manager sees at once.
	if 4*missing > len(chosen) {
		c.Errorf("%s: %d of %d moments did not come", s.name, missing, len(chosen))
	}
}

// twice checks that each process ran as often as it was to.
func (c *crew) twice() {
	c.Helper()
	for _, name := range c.names {
		if _, wrote := c.books.of(name); wrote != 2 {
			c.Errorf("%s wrote %d runs, want 2", name, wrote)
		}
	}
}

// kill kills the next victim for which somebody is held.
func (c *crew) kill() {
	for _, v := range victims {
		if c.gate.waits(v) {
			v.kill(c, func() { c.gate.open(v) })
			return
		}
	}
}

func killManager(c *crew, dead func()) {
	c.Helper()
	m := c.managers[len(c.managers)-1]
	c.must(m.Kill())
	dead()
	c.start()
}

func killStore(c *crew, dead func()) {
	c.Helper()
	c.must(c.books.store.Kill())
	dead()
	c.must(c.books.store.Start(c.Context()))
}

// killMover kills the process of the mover that is at work. One that does not wait for what held it, a note,
// may have ended.
func (c *crew) killMover(name string, mayEnd bool) error {
	// The node may not have noted yet that it runs.
	return wait.PollUntilContextTimeout(c.Context(), 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var pods corev1.PodList
		err := admin.List(ctx, &pods, client.InNamespace(c.namespace), client.MatchingLabels{"kyklos.io/workspace": name, "kyklos.io/role": "mover"})
		ended := mayEnd && !slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
			return pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning
		})
		return ended || slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
			return cluster.KillContainer(&pod, pod.Spec.Containers[0].Name) == nil
		}), err
	})
}

// Two managers that both act: a lease that was lost, or a leader election that failed.
func TestTwoManagers(t *testing.T) {
	c := newCrew(t, 1, store)
	c.start()
	c.start()
	for _, s := range life {
		c.through(s, c.names, nil)
	}
	c.twice()
}
