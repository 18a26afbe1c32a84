package targetkind

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"kyklos.io/kyklos/apis/v1beta1"
)

const (
	// foundFor is how long a kind that was found is cached.
	foundFor = 10 * time.Second
	// missingFor is how long a kind that was not found, or cannot be scaled, is cached. It is short:
	// scalers are often applied right after the kind is installed.
	missingFor = time.Second
	// lookupTimeout bounds the requests of one lookup, however long its callers would wait.
	lookupTimeout = 10 * time.Second
)

// Discovery is the part of discovery.DiscoveryClient that is needed.
type Discovery interface {
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
	ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error)
}

// Resolver looks up kinds and caches them for seconds. It is safe for concurrent use.
type Resolver struct {
	discovery Discovery
	clock     clock.PassiveClock
	lookups   singleflight.Group

	mu      sync.Mutex
	answers map[schema.GroupVersionKind]answer
}

type answer struct {
	kind Kind
	err  error
	at   time.Time
}

// NewResolver returns a resolver with an empty cache.
func NewResolver(discovery Discovery, clock clock.PassiveClock) *Resolver {
	return &Resolver{discovery: discovery, clock: clock, answers: map[schema.GroupVersionKind]answer{}}
}

// NewResolverFor is NewResolver for the cluster of config.
func NewResolverFor(config *rest.Config, requests *http.Client, clock clock.PassiveClock) (*Resolver, error) {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(config, requests)
	if err != nil {
		return nil, fmt.Errorf("make a client for discovery: %w", err)
	}
	return NewResolver(client, clock), nil
}

// Resolve returns the kind that ref names. The error is an *UnknownError or a *NotScalableError where
// the cluster said so; any other means that it could not be asked.
func (r *Resolver) Resolve(ctx context.Context, ref v1beta1.TargetRef) (Kind, error) {
	if kind, ok := BuiltIn(ref); ok {
		return kind, nil
	}
	gvk := Of(ref)
	if known, ok := r.recall(gvk); ok {
		return known.kind, known.err
	}
	done := r.lookups.DoChan(gvk.String(), func() (any, error) {
		if known, ok := r.recall(gvk); ok { // another lookup has just ended
			return known, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTimeout)
		defer cancel()
		return r.lookUp(ctx, gvk)
	})
	select {
	case <-ctx.Done():
		return Kind{}, fmt.Errorf("look up %s of %s: %w", gvk.Kind, gvk.GroupVersion(), ctx.Err())
	case result := <-done:
		if result.Err != nil {
			return Kind{}, fmt.Errorf("look up %s of %s: %w", gvk.Kind, gvk.GroupVersion(), result.Err)
		}
		got := result.Val.(answer)
		return got.kind, got.err
	}
}

// Forget drops a kind from the cache.
func (r *Resolver) Forget(gvk schema.GroupVersionKind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.answers, gvk)
}

func (r *Resolver) recall(gvk schema.GroupVersionKind) (answer, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.answers[gvk]
	return known, ok && r.holds(known)
}

func (r *Resolver) holds(a answer) bool {
	lasts := foundFor
	if a.err != nil {
		lasts = missingFor
	}
	age := r.clock.Since(a.at)
	return age >= 0 && age < lasts
}

// remember caches an answer and drops those that have expired: users can name any number of kinds.
func (r *Resolver) remember(gvk schema.GroupVersionKind, a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, old := range r.answers {
		if !r.holds(old) {
			delete(r.answers, key)
		}
	}
	r.answers[gvk] = a
}

// lookUp asks the cluster: one request for a kind that exists, and otherwise for all that it serves, to
// suggest what may be meant. It returns an error if there is no answer.
func (r *Resolver) lookUp(ctx context.Context, gvk schema.GroupVersionKind) (answer, error) {
	list, err := r.discovery.ServerResourcesForGroupVersionWithContext(ctx, gvk.GroupVersion().String())
	if err != nil && !apierrors.IsNotFound(err) {
		return answer{}, err
	}
	kind, found, err := evaluate(list, gvk)
	if !found {
		elsewhere, failure := r.elsewhere(ctx, gvk)
		if failure != nil {
			return answer{}, failure
		}
		err = &UnknownError{Kind: gvk, Elsewhere: elsewhere}
	}
	given := answer{kind: kind, err: err, at: r.clock.Now()}
	r.remember(gvk, given)
	return given, nil
}

// evaluate finds gvk in the list of its group and version; the error says why it cannot be a target.
func evaluate(list *metav1.APIResourceList, gvk schema.GroupVersionKind) (kind Kind, found bool, err error) {
	if list == nil {
		return Kind{}, false, nil
	}
	var object *metav1.APIResource
	for i, resource := range list.APIResources {
		if resource.Kind == gvk.Kind && !strings.Contains(resource.Name, "/") {
			object = &list.APIResources[i]
		}
	}
	if object == nil {
		return Kind{}, false, nil
	}
	scalable := slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == object.Name+"/scale" })
	kind = Kind{GroupVersionKind: gvk, Resource: object.Name}
	switch {
	case !object.Namespaced:
		return Kind{}, true, &NotScalableError{Kind: gvk, ClusterScoped: true}
	case !scalable && !known[kind].ownSpec:
		return Kind{}, true, &NotScalableError{Kind: gvk}
	default:
		return kind, true, nil
	}
}

// elsewhere returns the kinds of gvk's name that can be scaled, exact spellings first. An API of
// gvk's own group that does not answer is an error: the kind may be its.
func (r *Resolver) elsewhere(ctx context.Context, gvk schema.GroupVersionKind) ([]schema.GroupVersionKind, error) {
	_, lists, err := r.discovery.ServerGroupsAndResourcesWithContext(ctx)
	if failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err); partial {
		if own := failed[gvk.GroupVersion()]; own != nil {
			return nil, own
		}
	} else if err != nil {
		return nil, err
	}
	var exact, alike []schema.GroupVersionKind
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, resource := range list.APIResources {
			candidate := version.WithKind(resource.Kind)
			if strings.Contains(resource.Name, "/") || !strings.EqualFold(resource.Kind, gvk.Kind) {
				continue
			}
			if _, _, err := evaluate(list, candidate); err != nil {
				continue
			}
			if candidate.Kind == gvk.Kind {
				exact = append(exact, candidate)
			} else {
				alike = append(alike, candidate)
			}
		}
	}
	return append(exact, alike...), nil
}
