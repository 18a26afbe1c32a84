package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/cli/workspaces"
)

const (
	// reconnectAfter is when a lost connection is made again.
	reconnectAfter = time.Second
	// maxDials is how often in a row that may fail.
	maxDials = 5
)

// tunnel is a port of this machine that leads to a Workspace, as long as that is to run (W108).
type tunnel struct {
	*way
	ws            *v1alpha1.Workspace
	local, remote int
	// opened is called with the local port when it leads there for the first time.
	opened func(port int)
	// stood: it has led there.
	stood bool
	// over is why the Workspace cannot be watched, such as that it was deleted.
	over error
	// said is the last cause that was told.
	said string
}

// run forwards until the command ends, or the Workspace is stopped.
func (t *tunnel) run() error {
	ctx := t.cmd.Context()
	for failed := 0; ; {
		err := t.forward(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := t.ended(ctx); err != nil {
			return err
		}
		if failed++; isLost(err) {
			failed = 0
		}
		if failed == maxDials || failed > 0 && !t.stood {
			return workspaces.Unreached(fmt.Sprintf("no connection to port %d of Pod %s: %v%s", t.remote, t.pod(), err, elsewhere(t.ws)))
		}
		if text := err.Error(); text != t.said {
			note(t.cmd.ErrOrStderr(), text+"; connecting again")
			t.said = text
		}
		if err := t.again(ctx); err != nil || ctx.Err() != nil {
			return err
		}
	}
}

func isLost(err error) bool {
	_, lost := errors.AsType[workspaces.Lost](err)
	return lost
}

// again waits until the Workspace runs again.
func (t *tunnel) again(ctx context.Context) (err error) {
	select {
	case <-ctx.Done():
		return nil
	case <-t.client.Clock.After(reconnectAfter):
	}
	t.ws, err = t.follow(t.ws, v1alpha1.DesiredRunning)
	if err == nil || ctx.Err() != nil {
		return nil
	}
	return cmp.Or(t.ended(ctx), err)
}

// forward forwards until the connection ends, or the Workspace is no longer to run.
func (t *tunnel) forward(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		defer cancel()
		t.over = t.client.Stopped(ctx, t.ws)
	}()
	defer func() { cancel(); <-watched }()
	return workspaces.Forward(ctx, t.config, t.pod(), t.local, t.remote, func(port int) {
		if t.local = port; !t.stood {
			t.stood = true
			t.opened(port)
		}
	})
}

// ended is why the Workspace does not run any more, nil if it is to run.
func (t *tunnel) ended(ctx context.Context) error {
	if t.over != nil {
		return t.over
	}
	now, err := t.client.Get(ctx, t.key)
	switch {
	case ctx.Err() != nil || err != nil && workspaces.MayPass(err):
		return nil
	case err != nil:
		return err
	case now.UID != t.ws.UID:
		return workspaces.Unreached(fmt.Sprintf("workspace %s was deleted and created again", t.key))
	}
	t.ws = now
	schedules, err := source.Objects(ctx, t.client.WithWatch, t.key.Namespace, nil)
	if err != nil { // only for the name of one; not everybody may read them
		schedules = nil
	}
	return workspaces.Ended(now, schedules)
}

func (t *tunnel) pod() types.NamespacedName {
	return types.NamespacedName{Namespace: t.ws.Namespace, Name: t.ws.Status.PodName}
}

// elsewhere is where a Workspace is reached without a forwarded port.
func elsewhere(ws *v1alpha1.Workspace) string {
	if ws.Status.Address == "" {
		return ""
	}
	return "; within the cluster its address is " + ws.Status.Address
}
