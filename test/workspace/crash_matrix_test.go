package workspace

import (
	"flag"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/controlplane"
)

// crashes says how much of the matrix is tested.
var crashes = flag.String("crashes", "some", "some: a fixed part of the crash matrix; all: every point")

// some is how many Workspaces a part of the matrix has. Each is hit once in each step of its life.
const some = 8

// victims are who is killed, and around which requests.
var victims = []struct {
	name     string
	concerns func(moment) bool
	run      func(t *testing.T, concerns func(moment) bool, points [][]moment)
}{
	{"manager", func(m moment) bool { return m.actor == "manager" && !m.reads }, killManager},
	{"mover", func(m moment) bool { return m.actor == "mover" }, killMovers},
	{"store", func(m moment) bool { return m.stored && !m.reads }, killStore},
}

// TestCrashes kills the manager, the movers and the store before and after every request by which they
// change something, and checks after each that nothing is lost and nothing done twice. One life without
// trouble shows which requests there are. Then many Workspaces walk side by side, each held at its own
// moment: one blow hits all of them.
func TestCrashes(t *testing.T) {
	quiet := newCrew(t, 1, store, &gate{concerns: func(moment) bool { return true }})
	quiet.start()
	var calm [][]moment
	for _, s := range life {
		quiet.gate.next(nil)
		quiet.through(s, quiet.names, nil)
		past, _ := quiet.gate.history(quiet.names[0])
		calm = append(calm, past)
	}
	for _, victim := range victims {
		t.Run(victim.name, func(t *testing.T) {
			points := make([][]moment, len(calm))
			for i, past := range calm {
				points[i] = choose(slices.DeleteFunc(slices.Clone(past), func(m moment) bool { return !victim.concerns(m) }))
				t.Logf("%s: %d moments, %d chosen: %v", life[i].name, len(past), len(points[i]), points[i])
			}
			victim.run(t, victim.concerns, points)
		})
	}
}

// choose takes all moments, or those round the deletion of a volume and of the others every kth.
func choose(all []moment) []moment {
	if *crashes == "all" || len(all) <= some {
		return all
	}
	var chosen []moment
	for i, m := range all {
		if m.what == "DELETE persistentvolumeclaims" {
			chosen = append(chosen, m)
			if !m.after && i > 0 {
				chosen = append(chosen, all[i-1])
			}
		}
	}
	for k, left := 0, some-len(chosen); k < left; k++ {
		if m := all[k*len(all)/left]; !slices.Contains(chosen, m) {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

// march takes a crew through all of life, with points[i] of step i spread over its Workspaces.
func (c *crew) march(points [][]moment, kill func()) {
	c.Helper()
	for i, s := range life {
		chosen := map[string]moment{}
		for k, m := range points[i] {
			chosen[c.names[k]] = m
		}
		c.gate.next(chosen)
		c.through(s, c.names, kill)
		_, struck := c.gate.history("")
		for _, m := range points[i] {
			if !slices.Contains(struck, m) {
				c.Logf("%s: %s never came", s.name, m)
			}
		}
		// Which status is written how often differs with what the manager sees at once.
		if 4*len(struck) < 3*len(points[i]) {
			c.Errorf("%s: %d of %d moments came", s.name, len(struck), len(points[i]))
		}
	}
	for _, name := range c.names {
		if _, wrote := c.books.of(name); wrote != 2 {
			c.Errorf("%s wrote %d runs, want 2", name, wrote)
		}
	}
}

// size is how many Workspaces it takes.
func size(points [][]moment) int {
	most := 0
	for _, p := range points {
		most = max(most, len(p))
	}
	return most
}

func killManager(t *testing.T, concerns func(moment) bool, points [][]moment) {
	c := newCrew(t, size(points), store, &gate{concerns: concerns})
	m := c.start()
	c.march(points, func() {
		c.must(m.Kill())
		c.gate.open()
		m = c.start()
	})
}

func killMovers(t *testing.T, concerns func(moment) bool, points [][]moment) {
	g := &gate{concerns: concerns}
	c := newCrew(t, size(points), store, g)
	g.strike = func(name string, m moment) {
		if err := c.killMover(name); err != nil {
			c.Errorf("%s, %s: %v", name, m, err)
		}
	}
	c.start()
	c.march(points, nil)
}

// killMover kills the process of the mover that is at work.
func (c *crew) killMover(name string) error {
	var pods corev1.PodList
	if err := admin.List(c.Context(), &pods, client.InNamespace(c.namespace), client.MatchingLabels{"kyklos.io/workspace": name, "kyklos.io/role": "mover"}); err != nil {
		return err
	}
	var err error
	for _, pod := range pods.Items {
		if err = cluster.KillContainer(&pod, pod.Spec.Containers[0].Name); err == nil {
			return nil
		}
	}
	return err
}

func killStore(t *testing.T, concerns func(moment) bool, points [][]moment) {
	objects, err := controlplane.StartObjectStore(t.Context(), filepath.Join(t.TempDir(), "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = objects.Stop() })
	c := newCrew(t, size(points), objects, &gate{concerns: concerns})
	c.start()
	c.march(points, func() {
		c.must(objects.Kill())
		c.gate.open()
		c.must(objects.Start(c.Context()))
	})
}

// Two managers that both act: a lease that was lost, or a leader election that failed.
func TestTwoManagers(t *testing.T) {
	c := newCrew(t, 4, store, &gate{concerns: func(moment) bool { return true }})
	c.start()
	c.start()
	c.march(make([][]moment, len(life)), nil)
}
