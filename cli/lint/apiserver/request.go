package apiserver

import (
	"context"
	"fmt"
	"strconv"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/klog/v2"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/manifest"
)

// maxBytes is the API server's limit for a request body.
const maxBytes = 3 << 20

// Create responds to the creation of an object with strict field validation, in its own namespace or else in
// namespace. The server must know its kind.
func (s *Server) Create(object *manifest.Object, namespace string) Response {
	return s.respond(object, namespace, func(ctx context.Context, v *version, created *unstructured.Unstructured) error {
		rest.WipeObjectMetaSystemFields(created)
		if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(request.NamespaceValue(ctx), created); err != nil {
			return err
		}
		dropEqualOwners(ctx, created)
		created.SetManagedFields(nil) // the server writes its own
		if err := s.mutate(ctx, v, created, nil); err != nil {
			return err
		}
		setSystemFields(created)
		as := &strategy{version: v}
		if created.GetName() == "" && created.GetGenerateName() != "" {
			created.SetName(as.GenerateName(created.GetGenerateName()))
		}
		if err := rest.BeforeCreate(as, ctx, created); err != nil {
			return err
		}
		return checkResourceVersion(created)
	})
}

// Update responds to an update of old, which may be of another version of the kind; errors in old itself are not
// reported. UIDs and resource versions are ignored, so that there are no conflicts.
func (s *Server) Update(old, object *manifest.Object, namespace string) Response {
	return s.respond(object, namespace, func(ctx context.Context, v *version, updated *unstructured.Unstructured) error {
		stored, err := s.stored(ctx, v, old)
		if err != nil {
			return fmt.Errorf("the object to be updated: %w", err)
		}
		if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(request.NamespaceValue(ctx), updated); err != nil {
			return err
		}
		dropEqualOwners(ctx, updated)
		updated.SetManagedFields(nil)
		updated.SetUID(stored.GetUID())
		updated.SetResourceVersion(stored.GetResourceVersion())
		if err := s.mutate(ctx, v, updated, stored); err != nil {
			return err
		}
		return rest.BeforeUpdate(&strategy{version: v}, ctx, updated, stored)
	})
}

// respond decodes the object and handles the request.
func (s *Server) respond(object *manifest.Object, namespace string, handle func(context.Context, *version, *unstructured.Unstructured) error) Response {
	v, err := s.version(object)
	if err != nil {
		return Response{Errors: []Error{{Rule: lint.Invalid, Field: "apiVersion", Message: err.Error()}}}
	}
	var warnings warnings
	ctx := warning.WithWarningRecorder(context.Background(), &warnings)
	ctx = klog.NewContext(ctx, logr.Discard()) // the server logs errors that it finds twice
	ctx = request.WithNamespace(ctx, object.Key(namespace).Namespace)
	if v.deprecation != "" {
		warnings.AddWarning("", v.deprecation)
	}
	if len(object.Raw) > maxBytes {
		return Response{Errors: requestErrors(apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBytes))), Warnings: warnings.texts}
	}
	decoded, err := v.decode(object.Raw)
	if s.merging {
		err = withoutMerged(err, object.Raw)
	}
	if err != nil {
		response := Response{Errors: decodeErrors(err, object.Raw), Warnings: warnings.texts}
		if decoded != nil {
			response.Object = withoutSystemFields(decoded)
		}
		return response
	}
	if err := handle(ctx, v, decoded); err != nil {
		return Response{Errors: requestErrors(err), Warnings: warnings.texts, Object: withoutSystemFields(decoded)}
	}
	return Response{Warnings: warnings.texts, Object: withoutSystemFields(decoded)}
}

// checkResourceVersion refuses an object that was read from a cluster, as the storage does. A dry run does not get
// that far.
func checkResourceVersion(object *unstructured.Unstructured) error {
	if version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64); err != nil || version == 0 {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Message: hasResourceVersion,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: "metadata.resourceVersion", Message: hasResourceVersion}}},
	}}
}

const hasResourceVersion = "resourceVersion should not be set on objects to be created"

// setSystemFields sets what the server sets, to any valid value; withoutSystemFields removes it again.
func setSystemFields(object *unstructured.Unstructured) {
	object.SetUID("00000000-0000-0000-0000-000000000000")
	object.SetCreationTimestamp(metav1.Unix(1, 0))
	object.SetGeneration(1)
}

func withoutSystemFields(object *unstructured.Unstructured) map[string]any {
	for _, name := range []string{"uid", "creationTimestamp", "generation", "resourceVersion"} {
		unstructured.RemoveNestedField(object.Object, "metadata", name)
	}
	return object.Object
}
