package workspace

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
)

// crew are Workspaces that walk through their lives side by side, each in its own trouble.
type crew struct {
	*stage
	books *books
	gate  *gate
	names []string

	proxy    *harness.Proxy
	managers []*harness.Manager
	clock    *movedClock
}

// movable is a manager whose clock can be moved, so that nobody waits for the end of a back-off.
var movable = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(cluster.Dir, "kyklos-movable")
	return binary, harness.BuildMovable(context.Background(), binary)
})

// talkative is a mover that says all the time how far it is, so that one which is soon done does too.
var talkative = sync.OnceValues(func() (string, error) {
	kyklos, err := harness.Binary("kyklos")
	script := filepath.Join(cluster.Dir, "kyklos-talkative")
	return script, errors.Join(err, os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nexec %q \"$@\" --progress-every=1ms\n", kyklos), 0o755))
})

// newCrew makes a namespace whose managers and movers are behind the gate.
func newCrew(t *testing.T, size int, objects *harness.ObjectStore) *crew {
	t.Helper()
	clock := &movedClock{Clock: harness.Clock(filepath.Join(t.TempDir(), "clock")), nudged: map[string]time.Time{}}
	g := &gate{victims: map[string]*victim{}}
	c := &crew{stage: newStage(t), gate: g, clock: clock}
	c.books = &books{namespace: c.namespace, store: objects, uids: map[string]string{}, wrote: map[string]int{}, robbed: map[string]bool{}}
	for i := range size {
		c.names = append(c.names, fmt.Sprintf("c%02d", i)) // of one length: see ours
	}
	t.Cleanup(func() {
		if log, err := os.ReadFile(filepath.Join(cluster.Dir, "devcluster.log")); err == nil && t.Failed() {
			t.Logf("the devcluster logged last:\n%s", log[max(0, len(log)-16<<10):])
		}
	})
	g.next(nil)
	g.seen = c.seen
	endpoint := storeGate(t, g, c.books, objects)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "store"}}
	c.must(admin.Patch(t.Context(), secret, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"stringData":{"endpoint":%q}}`, endpoint))))
	var err error
	c.proxy, err = cluster.StartProxy()
	c.must(err)
	t.Cleanup(c.proxy.Close)
	c.proxy.Inject(g.api)
	t.Cleanup(func() { g.open(nil) }) // a proxy waits for what it holds
	return c
}

// audit checks the invariant, which is never suspended.
func (c *crew) audit(name, when string) {
	if err := c.books.audit(context.WithoutCancel(c.Context()), name); err != nil {
		c.Errorf("%s: %v", when, err)
	}
}

// seen audits after every write.
func (c *crew) seen(name string, m moment) {
	if m.after && !m.reads {
		c.audit(name, m.String())
	}
}

// start starts another manager.
func (c *crew) start() *harness.Manager {
	c.Helper()
	binary, err := movable()
	c.must(err)
	mover, err := talkative()
	c.must(err)
	m, err := cluster.StartManager(c.Context(), harness.ManagerOptions{
		Binary: binary, Proxy: c.proxy, Log: &c.log, Env: []string{c.clock.Env()},
		Args: []string{
			"--namespaces=" + c.namespace, "--leader-elect=false", "--webhooks=false", "--storage-migration=false", "--log-format=text",
			"--mover-image=" + harness.HostImage(mover), "--mover-limit=100", "--workspace-limit-per-owner=100",
			"--workspace-workers=100", // those that are held keep theirs
		},
	})
	c.must(err)
	c.Cleanup(func() { _ = m.Kill() })
	ctx, cancel := context.WithTimeout(c.Context(), patience)
	defer cancel()
	c.must(m.AwaitReady(ctx))
	c.managers = append(c.managers, m)
	return m
}

// step is one stage of a life: what begins it, what it leads to, and how often the process starts in it.
type step struct {
	name   string
	begin  func(c *crew, name string)
	state  string // "" is gone
	starts int
}

// life goes through every operation. Its last home is to be archived before it goes.
var life = []step{
	{"PROVISIONING, STARTING", (*crew).hire, running, 1},
	{"STOPPING", want(v1alpha1.DesiredStandby), standby, 0},
	{"ARCHIVING", want(v1alpha1.DesiredPending), archived, 0},
	{"RESTORING", want(v1alpha1.DesiredStandby), standby, 0},
	{"STARTING", want(v1alpha1.DesiredRunning), running, 1},
	{"STOPPING, ARCHIVING, DELETING", (*crew).dismiss, "", 0},
}

func want(state v1alpha1.DesiredState) func(c *crew, name string) {
	return func(c *crew, name string) {
		c.Helper()
		c.must(admin.Patch(c.Context(), c.named(name), client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"desiredState":%q}}`, state))))
	}
}

func (c *crew) named(name string) *v1alpha1.Workspace {
	return &v1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name}}
}

func (c *crew) hire(name string) {
	c.Helper()
	ws := c.spec(name, "/bin/sh", "-c", work)
	ws.Spec.DeletionPolicy = v1alpha1.DeletionArchive
	c.must(admin.Create(c.Context(), ws))
	c.books.opened(name, string(ws.UID))
}

func (c *crew) dismiss(name string) {
	c.Helper()
	c.must(admin.Delete(c.Context(), c.named(name)))
}

// arrived reports whether the Workspace has come to the end of the step, and all that it wrote is right.
func (c *crew) arrived(name string, s step, ws *v1alpha1.Workspace) bool {
	c.Helper()
	if ws == nil || s.state == "" {
		return ws == nil && s.state == ""
	}
	if !isSettled(ws, s.state) {
		return false
	}
	_, wrote := c.books.of(name)
	runs, err := c.books.onVolume(c.Context(), name)
	if s.state == running && (err != nil || runs != wrote+s.starts) {
		if err == nil && runs > wrote+s.starts {
			c.Errorf("%s ran %d times, want %d", name, runs, wrote+s.starts)
		}
		return err == nil && runs > wrote // else it is still writing, or everything is lost: which the audit tells
	}
	return true
}

// walk waits until every Workspace has arrived or is held.
func (c *crew) walk(s step, names []string) (held int) {
	c.Helper()
	deadline := time.Now().Add(2 * patience)
	for {
		var list v1alpha1.WorkspaceList
		c.must(admin.List(c.Context(), &list, client.InNamespace(c.namespace)))
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
			} else if !c.arrived(name, s, ws) {
				waiting = name
				c.nudge(ws)
			}
		}
		if waiting == "" {
			return held
		}
		if time.Now().After(deadline) {
			past, struck := c.gate.history(waiting)
			c.Fatalf("%s: %s does not arrive: %s\nits requests: %v\nkilled: %v", s.name, waiting, harness.Show(byName[waiting]), past, struck)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// nudge moves the clock to the end of a Workspace's back-off.
func (c *crew) nudge(ws *v1alpha1.Workspace) {
	c.Helper()
	if ws == nil || ws.Status.Operation == nil || ws.Status.Operation.NextRetryAt == nil {
		return
	}
	at := ws.Status.Operation.NextRetryAt.Time
	if late, err := c.clock.reach(ws.Name, at); err != nil || !late {
		c.must(err)
		return
	}
	// A change of what nobody asks for makes the manager look again, at its new time.
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"test/back-off":%q}}}`, at)
	c.must(client.IgnoreNotFound(admin.Patch(c.Context(), c.named(ws.Name), client.RawPatch("application/merge-patch+json", patch))))
}

// through takes the Workspaces of these names through one step. kill, if it is not nil, is called when all
// that are held are held.
func (c *crew) through(s step, names []string, kill func()) {
	c.Helper()
	for _, name := range names {
		s.begin(c, name)
	}
	for c.walk(s, names) > 0 {
		for _, name := range c.names {
			c.audit(name, s.name+", at its worst")
		}
		kill()
	}
	for _, name := range names {
		_, wrote := c.books.of(name)
		c.books.written(name, wrote+s.starts)
		c.audit(name, s.name+", at its end")
	}
}
