package workspaces

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// FieldManager is the name under which the commands write spec.desiredState.
const FieldManager = "kyklos-workspace"

const (
	// again is when a watch that ended is started again.
	again = time.Second
	// tick is how often what is shown is brought up to date.
	tick = time.Second
	// patience is how long a step may take before people are told what is known about it.
	patience = 20 * time.Second
)

// Client sets and follows Workspaces.
type Client struct {
	client.WithWatch
	Clock clock.WithTicker
}

// Get reads a Workspace.
func (c Client) Get(ctx context.Context, key types.NamespacedName) (*v1alpha1.Workspace, error) {
	ws := &v1alpha1.Workspace{}
	err := c.WithWatch.Get(ctx, key, ws)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("there is no Workspace %s: kubectl get workspaces -A lists them", key)
	}
	if err != nil {
		return nil, fmt.Errorf("read Workspace %s: %w", key, err)
	}
	return ws, nil
}

// Desire sets the desired state, if it is another one, and returns the Workspace as it is then.
func (c Client) Desire(ctx context.Context, ws *v1alpha1.Workspace, want v1alpha1.DesiredState) (*v1alpha1.Workspace, error) {
	if ws.Spec.DesiredState == want {
		return ws, nil
	}
	next := ws.DeepCopy()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"uid":%q},"spec":{"desiredState":%q}}`, ws.UID, want))
	if err := c.Patch(ctx, next, patch, client.FieldOwner(FieldManager)); err != nil {
		return nil, fmt.Errorf("set spec.desiredState of Workspace %s/%s to %s: %w", ws.Namespace, ws.Name, want, err)
	}
	return next, nil
}

// Follow shows a Workspace on its way to a state, from the given version on, until the state is reached. It watches, and outlives the
// end of a watch.
func (c Client) Follow(ctx context.Context, from *v1alpha1.Workspace, want v1alpha1.DesiredState, show func(View)) (*v1alpha1.Workspace, error) {
	step, since := "", c.Clock.Now()
	last, err := c.follow(ctx, from, func(ws *v1alpha1.Workspace) (bool, error) {
		view, err := Look(ws, want)
		if err != nil || view.Reached {
			return view.Reached, err
		}
		if step != view.Step {
			step, since = view.Step, c.Clock.Now()
		}
		if view.Why == "" && view.Text == "" && c.Clock.Since(since) >= patience {
			if view.Why = view.Later; view.Unseen {
				view.Why = fmt.Sprintf("Kyklos has not looked at it yet: its manager may not be running, or not serve namespace %s", ws.Namespace)
			}
		}
		show(view)
		return false, nil
	})
	if errors.Is(err, errOver) {
		err = Unreached(fmt.Sprintf("workspace %s/%s is not %s in time, which it may still become: %s", from.Namespace, from.Name, want, message(last)))
	}
	return last, err
}

// Stopped waits until the Workspace is no longer to run, or ctx ends.
func (c Client) Stopped(ctx context.Context, from *v1alpha1.Workspace) error {
	_, err := c.follow(ctx, from, func(ws *v1alpha1.Workspace) (bool, error) { return !runs(ws), nil })
	if errors.Is(err, errOver) {
		return nil
	}
	return err
}

// errOver: the time is over.
var errOver = errors.New("the time is over")

// follow watches a Workspace, from the given version on, until judge is done with it.
func (c Client) follow(ctx context.Context, from *v1alpha1.Workspace, judge func(*v1alpha1.Workspace) (bool, error)) (*v1alpha1.Workspace, error) {
	follower := follower{Client: c, last: from, judge: judge}
	ticker := c.Clock.NewTicker(tick)
	defer ticker.Stop()
	follower.ticks = ticker.C()
	for {
		done, err := follower.watch(ctx)
		if done || err != nil {
			return follower.last, err
		}
		select {
		case <-ctx.Done():
			return follower.last, errOver
		case <-c.Clock.After(again):
		}
	}
}

// follower is one call of follow.
type follower struct {
	Client
	last  *v1alpha1.Workspace
	judge func(*v1alpha1.Workspace) (bool, error)
	ticks <-chan time.Time
}

// watch follows the Workspace until judge is done, or the watch ends.
func (f *follower) watch(ctx context.Context) (done bool, err error) {
	key := client.ObjectKeyFromObject(f.last)
	stream, err := f.Watch(ctx, &v1alpha1.WorkspaceList{}, client.InNamespace(key.Namespace), client.MatchingFields{"metadata.name": key.Name})
	if err != nil {
		return false, f.unless(err)
	}
	defer stream.Stop()
	ws := &v1alpha1.Workspace{} // what changed before the watch began
	if err := f.WithWatch.Get(ctx, key, ws); apierrors.IsNotFound(err) {
		return false, Unreached(fmt.Sprintf("workspace %s was deleted", key))
	} else if err != nil {
		return false, f.unless(err)
	}
	for {
		if done, err := f.see(ws); done || err != nil {
			return done, err
		}
		select {
		case <-ctx.Done():
			return false, nil
		case <-f.ticks:
		case event, open := <-stream.ResultChan():
			seen, ok := event.Object.(*v1alpha1.Workspace)
			switch {
			case !open || event.Type == watch.Error:
				return false, nil
			case !ok:
			case event.Type == watch.Deleted:
				return false, Unreached(fmt.Sprintf("workspace %s was deleted", key))
			default:
				ws = seen
			}
		}
	}
}

// unless returns the error of a request if it is not one that may pass.
func (f *follower) unless(err error) error {
	if MayPass(err) {
		return nil
	}
	return err
}

// MayPass reports whether a request may succeed when it is sent again.
func MayPass(err error) bool {
	status := apierrors.APIStatus(nil)
	return !errors.As(err, &status) || status.Status().Code >= 500 || apierrors.IsTooManyRequests(err) || apierrors.IsResourceExpired(err)
}

// see takes a version of the Workspace, unless a newer one is known: a watch may begin in the past.
func (f *follower) see(ws *v1alpha1.Workspace) (done bool, err error) {
	if ws.UID != f.last.UID {
		return false, Unreached(fmt.Sprintf("workspace %s/%s was deleted and created again", ws.Namespace, ws.Name))
	}
	if ws.Generation >= f.last.Generation {
		f.last = ws
	}
	return f.judge(f.last)
}
