package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/newest"
	"kyklos.io/kyklos/internal/targetkind"
)

// kinds are the kinds that Kyklos knows by name. All others need a scale subresource; see scalable. A new
// kind is added here and in internal/targetkind.
var kinds = []struct {
	targetkind.Kind
	implementation Kind
}{
	{targetkind.Deployment, deployments{}},
	{targetkind.StatefulSet, statefulSets{}},
	{targetkind.DaemonSet, daemonSets{}},
	{targetkind.Workspace, workspaces{}},
}

// KindOf returns the implementation for the kind that ref names, whether or not the cluster has it.
func KindOf(ref v1beta1.TargetRef) Kind {
	gvk := targetkind.Of(ref)
	for _, known := range kinds {
		if known.GroupVersionKind == gvk {
			return known.implementation
		}
	}
	return scalable{gvk: gvk}
}

// CachedKinds calls use for each kind whose objects belong in the manager's cache.
func CachedKinds(use func(targetkind.Kind, Cached)) {
	for _, known := range kinds {
		if cached, ok := known.implementation.(Cached); ok {
			use(known.Kind, cached)
		}
	}
}

// Clients are what targets are read and written with.
type Clients struct {
	// Client reads from the cache and writes to the API server; APIReader reads from the API server.
	Client    client.Client
	APIReader client.Reader
	// Dynamic reads and writes kinds that are not cached.
	Dynamic dynamic.Interface
	// Kinds looks up kinds that are not cached, and Watches has the metadata of their objects.
	Kinds   *targetkind.Resolver
	Watches Watches
	// Paced sends a request that reads the target, unless it has to wait for its turn. It may send it several times at
	// once, and returns one of the answers.
	Paced func(ctx context.Context, send func(context.Context) (any, error)) (any, error)
	// Workspaces is where they are served.
	Workspaces targetkind.Scope
}

// Watches are the watches on the metadata of kinds that are not cached.
type Watches interface {
	// Kind returns a kind that is being watched, so that its scalers need no discovery.
	Kind(gvk schema.GroupVersionKind) (targetkind.Kind, bool)
	// Objects reads the metadata of a kind's objects.
	Objects(kind targetkind.Kind) (client.Reader, error)
	// Trouble says why changes of a kind's objects may go unnoticed; nil if they do not.
	Trouble(gvk schema.GroupVersionKind) error
}

// IsObstacle reports that the target's kind, and not the passing state of the cluster, prevents scaling.
func IsObstacle(err error) bool {
	var unknown *targetkind.UnknownError
	var unscalable *targetkind.NotScalableError
	var forbidden *targetkind.ForbiddenError
	return errors.As(err, &unknown) || errors.As(err, &unscalable) || errors.As(err, &forbidden)
}

// Read returns the target that ref names, or nil if it does not exist or is being deleted. An error for which
// IsObstacle is true means that nothing of this kind can be scaled at present.
func Read(ctx context.Context, c *Clients, namespace string, ref v1beta1.TargetRef, memory *Memory, now time.Time) (Target, error) {
	key := types.NamespacedName{Namespace: namespace, Name: ref.Name}
	kind := KindOf(ref)
	watched, versionsOnly := kind.(Watched)
	memory.follow(ref, versionsOnly)
	if versionsOnly {
		return readWatched(ctx, c, watched, key, memory, now)
	}
	found, err := memory.Read(now, readCached(ctx, c.Client, kind.(Cached), key), func() (newest.State[Target], error) {
		return paced(ctx, c, func(ctx context.Context) (newest.State[Target], error) {
			return readCached(ctx, c.APIReader, kind.(Cached), key)()
		})
	})
	return found.Value, err
}

func paced[T any](ctx context.Context, c *Clients, send func(context.Context) (T, error)) (T, error) {
	answer, err := c.Paced(ctx, func(ctx context.Context) (any, error) { return send(ctx) })
	typed, _ := answer.(T) // not if it has to wait
	return typed, err
}

// Trouble says why changes of the target may go unnoticed; nil if they do not.
func Trouble(c *Clients, ref v1beta1.TargetRef) error {
	if watched, ok := KindOf(ref).(Watched); ok {
		gvk, _ := watched.Path()
		return c.Watches.Trouble(gvk)
	}
	return nil
}

func readCached(ctx context.Context, reader client.Reader, kind Cached, key types.NamespacedName) newest.Source[Target] {
	return func() (newest.State[Target], error) {
		object := kind.Object()
		if err := reader.Get(ctx, key, object); err != nil {
			return newest.State[Target]{}, client.IgnoreNotFound(err)
		}
		found := asSeen(kind.FromObject(object))
		if object.GetDeletionTimestamp() != nil {
			found.Value = nil
		}
		return found, nil
	}
}

// mergePatch changes annotations and the spec of an object only if it still has the resourceVersion. nil leaves them as they
// are; a nil value removes its key.
func mergePatch(resourceVersion string, annotations, spec map[string]any) ([]byte, error) {
	metadata := map[string]any{"resourceVersion": resourceVersion}
	body := map[string]any{"metadata": metadata}
	if annotations != nil {
		metadata["annotations"] = annotations
	}
	if spec != nil {
		body["spec"] = spec
	}
	patch, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode the patch: %w", err)
	}
	return patch, nil
}
