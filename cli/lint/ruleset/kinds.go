package ruleset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/internal/targetkind"
)

// kindSource resolves the kinds of targets: by the definitions in the set, or else from the cluster, or, without
// one, from the kinds that every cluster has.
type kindSource struct {
	definitions map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition
	lists       kindLists
	own         *targetkind.Resolver // uses lists
	cluster     *Cluster
}

// kindLists is discovery without a cluster: lists by group and version.
type kindLists map[string]*metav1.APIResourceList

// newKindSource reads the CustomResourceDefinitions of the whole set, which are cluster-wide.
func newKindSource(set *manifest.Set, options Options) *kindSource {
	lists := make(kindLists)
	source := &kindSource{
		definitions: make(map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition),
		lists:       lists,
		own:         targetkind.NewResolver(lists, fixedClock(options.Now)),
		cluster:     options.Cluster,
	}
	for _, kinds := range builtIn {
		for _, kind := range kinds.kinds {
			lists.add(kinds.version, kind.name, kind.namespaced, kind.scale)
		}
	}
	lists.add(v1beta1.GroupVersion, v1beta1.Kind, true, false)
	lists.add(v1alpha1.GroupVersion, v1alpha1.Kind, true, false)
	lists.add(v1alpha1.GroupVersion, targetkind.Workspace.Kind, true, false)
	for _, object := range set.Objects {
		if object.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: apiextensionsv1.GroupName, Kind: "CustomResourceDefinition"}) {
			continue
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &definition) != nil {
			continue // the API server refuses it
		}
		spec := &definition.Spec
		source.definitions[schema.GroupKind{Group: spec.Group, Kind: spec.Names.Kind}] = &definition
		for i := range spec.Versions {
			v := &spec.Versions[i]
			if v.Served {
				lists.add(schema.GroupVersion{Group: spec.Group, Version: v.Name}, spec.Names.Kind,
					spec.Scope == apiextensionsv1.NamespaceScoped, v.Subresources != nil && v.Subresources.Scale != nil)
			}
		}
	}
	return source
}

// Resolve returns the kind of ref, as a targetkind.Resolver does; errUnknown if it may exist or not.
func (s *kindSource) Resolve(ctx context.Context, ref v1beta1.TargetRef) (targetkind.Kind, error) {
	named := targetkind.Of(ref)
	switch everywhere := !strings.Contains(named.Group, ".") || named.Group == v1beta1.GroupVersion.Group; {
	case s.definitions[named.GroupKind()] != nil: // even if the cluster does not have it yet
		return s.own.Resolve(ctx, ref)
	case s.cluster != nil:
		return s.cluster.kinds.Resolve(ctx, ref)
	case everywhere: // only another release of Kubernetes or Kyklos adds kinds to these groups
		kind, err := s.own.Resolve(ctx, ref)
		if unknown := (*targetkind.UnknownError)(nil); errors.As(err, &unknown) && len(unknown.Elsewhere) == 0 {
			return kind, absentError{unknown}
		}
		return kind, err
	case s.lists.has(named):
		return s.own.Resolve(ctx, ref)
	default:
		return targetkind.Kind{}, errUnknown
	}
}

// absentError is an UnknownError for a kind that no cluster has. It does not mention kinds of the cluster.
type absentError struct{ *targetkind.UnknownError }

// Error implements error.
func (e absentError) Error() string {
	return fmt.Sprintf("%s has no %s: correct apiVersion and kind", e.Kind.GroupVersion(), e.Kind.Kind)
}

// Unwrap returns the UnknownError.
func (e absentError) Unwrap() error { return e.UnknownError }

// add lists a kind. Its plural is guessed, as no message contains it.
func (l kindLists) add(version schema.GroupVersion, kind string, namespaced, scale bool) {
	list := l[version.String()]
	if list == nil {
		list = &metav1.APIResourceList{GroupVersion: version.String()}
		l[version.String()] = list
	}
	name := strings.ToLower(kind) + "s"
	list.APIResources = append(list.APIResources, metav1.APIResource{Name: name, Kind: kind, Namespaced: namespaced})
	if scale {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: name + "/scale", Kind: "Scale", Namespaced: namespaced})
	}
}

func (l kindLists) has(kind schema.GroupVersionKind) bool {
	list := l[kind.GroupVersion().String()]
	return list != nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind.Kind })
}

// ServerResourcesForGroupVersionWithContext returns the list, or NotFound as an API server does.
func (l kindLists) ServerResourcesForGroupVersionWithContext(_ context.Context, groupVersion string) (*metav1.APIResourceList, error) {
	if list := l[groupVersion]; list != nil {
		return list, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{}, groupVersion)
}

// ServerGroupsAndResourcesWithContext returns the lists, sorted by version.
func (l kindLists) ServerGroupsAndResourcesWithContext(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	var all []*metav1.APIResourceList
	for _, version := range slices.Sorted(maps.Keys(l)) {
		all = append(all, l[version])
	}
	return nil, all, nil
}

// fixedClock keeps the resolver's cache valid forever: the lists do not change.
type fixedClock time.Time

// Now implements clock.PassiveClock.
func (c fixedClock) Now() time.Time { return time.Time(c) }

// Since implements clock.PassiveClock.
func (c fixedClock) Since(t time.Time) time.Duration { return time.Time(c).Sub(t) }
