package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// cohort is a number of Workspaces that go through the same life in parallel, each with its own faults.
type cohort struct {
	*fixtures.Workspaces
	ledger *ledger
	gate   *gate
	names  []string

	proxy    *harness.Proxy
	managers []*harness.Manager
	clock    *backoffClock
}

// verboseMover is a mover that reports its progress every millisecond, so that short moves report it too.
var verboseMover = sync.OnceValues(func() (string, error) {
	kyklos, err := harness.Binary("kyklos")
	script := filepath.Join(installation.Dir, "kyklos-verbose")
	return script, errors.Join(err, os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nexec %q \"$@\" --progress-every=1ms\n", kyklos), 0o755))
})

// newCohort creates a namespace. The gate is in front of its API server and store.
func newCohort(t *testing.T, size int, objects *harness.ObjectStore) *cohort {
	t.Helper()
	clock := &backoffClock{Clock: harness.Clock(filepath.Join(t.TempDir(), "clock")), skipped: map[string]time.Time{}}
	g := &gate{victims: map[string]*victim{}}
	c := &cohort{Workspaces: fixtures.NewWorkspaces(t, installation.Cluster, store), gate: g, clock: clock}
	c.ledger = &ledger{namespace: c.Namespace, store: objects, uids: map[string]string{}, wrote: map[string]int{}, lossAllowed: map[string]bool{}}
	for i := range size {
		c.names = append(c.names, fmt.Sprintf("c%02d", i)) // see ownObject
	}
	t.Cleanup(func() {
		if log, err := os.ReadFile(filepath.Join(c.Cluster.Dir, "devcluster.log")); err == nil && t.Failed() {
			t.Logf("the devcluster logged last:\n%s", log[max(0, len(log)-16<<10):])
		}
	})
	g.reset(nil)
	g.seen = c.seen
	endpoint := storeGate(t, g, c.ledger, objects)
	c.setStore("endpoint", endpoint)
	c.proxy = c.StartProxy()
	c.proxy.Inject(g.api)
	t.Cleanup(func() { g.release(nil) }) // closing the proxy waits for held requests
	return c
}

// setStore changes a key of the store's Secret.
func (c *cohort) setStore(key, value string) {
	c.Helper()
	c.Patch(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "store"}}, fmt.Sprintf(`{"stringData":{%q:%q}}`, key, value))
}

// verify checks the invariant.
func (c *cohort) verify(name, when string) {
	if err := c.ledger.verify(context.WithoutCancel(c.Context()), name); err != nil {
		c.Errorf("%s: %v", when, err)
	}
}

// seen checks the invariant after every write.
func (c *cohort) seen(name string, m moment) {
	if m.after && !m.reads {
		c.verify(name, m.String())
	}
}

// start starts another manager.
func (c *cohort) start() *harness.Manager {
	c.Helper()
	mover, err := verboseMover()
	c.Must(err)
	m := c.StartManager(harness.ManagerOptions{
		Binary: installation.Movable, Proxy: c.proxy, Env: []string{c.clock.Env()},
		Args: append(c.ManagerArgs(), "--mover-image="+harness.HostImage(mover), "--mover-limit=100", "--workspace-limit-per-owner=100", "--workspace-limit-per-namespace=100",
			"--workspace-workers=100"), // a held request keeps its worker
	})
	c.AwaitReady(m)
	c.managers = append(c.managers, m)
	return m
}

// step is one step of a Workspace's life.
type step struct {
	name  string
	begin func(c *cohort, name string)
	// state is the state that ends the step; empty if the Workspace is gone.
	state string
	// starts is how often the process starts in it.
	starts int
}

// life goes through every operation. The deletion archives the home first.
var life = []step{
	{"PROVISIONING, STARTING", (*cohort).create, fixtures.Running, 1},
	{"STOPPING", desire(v1alpha1.DesiredStandby), fixtures.Standby, 0},
	{"ARCHIVING", desire(v1alpha1.DesiredPending), fixtures.Archived, 0},
	{"RESTORING", desire(v1alpha1.DesiredStandby), fixtures.Standby, 0},
	{"STARTING", desire(v1alpha1.DesiredRunning), fixtures.Running, 1},
	{"STOPPING, ARCHIVING, DELETING", (*cohort).remove, "", 0},
}

func desire(state v1alpha1.DesiredState) func(c *cohort, name string) {
	return func(c *cohort, name string) {
		c.Helper()
		c.Patch(c.named(name), fmt.Sprintf(`{"spec":{"desiredState":%q}}`, state))
	}
}

func (c *cohort) named(name string) *v1alpha1.Workspace {
	return &v1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}}
}

func (c *cohort) create(name string) {
	c.Helper()
	ws := c.NewWorkspace(name, "/bin/sh", "-c", work)
	ws.Spec.DeletionPolicy = v1alpha1.DeletionArchive
	c.Must(c.Client.Create(c.Context(), ws))
	c.ledger.register(name, string(ws.UID))
}

func (c *cohort) remove(name string) {
	c.Helper()
	c.Must(c.Client.Delete(c.Context(), c.named(name)))
}

// reached reports whether the Workspace is at the end of the step and its process has written everything.
func (c *cohort) reached(name string, s step, ws *v1alpha1.Workspace) bool {
	c.Helper()
	if ws == nil || s.state == "" {
		return ws == nil && s.state == ""
	}
	if !fixtures.IsSettled(ws, s.state) {
		return false
	}
	_, wrote := c.ledger.lookup(name)
	runs, err := c.ledger.runsOnVolume(c.Context(), name)
	if s.state == fixtures.Running && (err != nil || runs != wrote+s.starts) {
		if err == nil && runs > wrote+s.starts {
			c.Errorf("%s ran %d times, want %d", name, runs, wrote+s.starts)
		}
		return err == nil && runs > wrote // otherwise it is still writing, or verify fails
	}
	return true
}

// run waits until every Workspace has reached the end of the step or is held.
func (c *cohort) run(s step, names []string) (held int) {
	c.Helper()
	deadline := time.Now().Add(2 * harness.Patience)
	for {
		var list v1alpha1.WorkspaceList
		c.List(c.Namespace, &list)
		byName := map[string]*v1alpha1.Workspace{}
		for i := range list.Items {
			byName[list.Items[i].Name] = &list.Items[i]
		}
		waiting := ""
		held = 0
		for _, name := range names {
			if c.gate.holds(name) {
				held++
			} else if ws := byName[name]; ws != nil && ws.Status.Phase == v1alpha1.PhaseError {
				c.Fatalf("%s, %s is in ERROR: %s", s.name, name, harness.Show(ws.Status))
			} else if !c.reached(name, s, ws) {
				waiting = name
				c.skipBackoff(ws)
			}
		}
		if waiting == "" {
			return held
		}
		if time.Now().After(deadline) {
			past, hits := c.gate.history(waiting)
			c.Fatalf("%s: %s does not end it: %s\nits requests: %v\nkilled at: %v", s.name, waiting, harness.Show(byName[waiting]), past, hits)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// skipBackoff moves the clock to the end of a Workspace's back-off.
func (c *cohort) skipBackoff(ws *v1alpha1.Workspace) {
	c.Helper()
	if ws == nil || ws.Status.Operation == nil || ws.Status.Operation.NextRetryAt == nil {
		return
	}
	at := ws.Status.Operation.NextRetryAt.Time
	if moved, err := c.clock.reach(ws.Name, at); err != nil || !moved {
		c.Must(err)
		return
	}
	// Any change makes the manager reconcile at its new time.
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"test/back-off":%q}}}`, at)
	c.Must(client.IgnoreNotFound(c.Client.Patch(c.Context(), c.named(ws.Name), client.RawPatch("application/merge-patch+json", patch))))
}

// runStep takes the named Workspaces through one step. When each of them has reached its end or is held, kill is
// called, until none is held.
func (c *cohort) runStep(s step, names []string, kill func()) {
	c.Helper()
	for _, name := range names {
		s.begin(c, name)
	}
	for c.run(s, names) > 0 {
		for _, name := range c.names {
			c.verify(name, s.name+", before the kill")
		}
		kill()
	}
	for _, name := range names {
		_, wrote := c.ledger.lookup(name)
		c.ledger.setRuns(name, wrote+s.starts)
		c.verify(name, s.name+", at its end")
	}
}
