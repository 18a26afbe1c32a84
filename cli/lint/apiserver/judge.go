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

	"kyklos.io/kyklos/cli/manifest"
)

// mostBytes is how long a request's body may be.
const mostBytes = 3 << 20

// Create says what the server says of a new object, read strictly (fieldValidation=Strict), in the namespace that it
// names or, where it names none, in namespace. The kind must be one that the server Knows.
func (s *Server) Create(object *manifest.Object, namespace string) Verdict {
	return s.judge(object, namespace, func(ctx context.Context, v *version, created *unstructured.Unstructured) error {
		rest.WipeObjectMetaSystemFields(created)
		if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(request.NamespaceValue(ctx), created); err != nil {
			return err
		}
		dropEqualOwners(ctx, created)
		created.SetManagedFields(nil) // the server writes its own
		if err := s.mutate(ctx, v, created, nil); err != nil {
			return err
		}
		identify(created)
		as := &strategy{version: v}
		if created.GetName() == "" && created.GetGenerateName() != "" {
			created.SetName(as.GenerateName(created.GetGenerateName()))
		}
		if err := rest.BeforeCreate(as, ctx, created); err != nil {
			return err
		}
		return neverStored(created)
	})
}

// Update says what the server says of an object that is to replace old, which is stored: whatever is wrong with
// old alone is not judged. Old may be of another version of the kind. Who replaces what somebody else has changed meanwhile is not
// asked: resource versions and UIDs of both are left out.
func (s *Server) Update(old, object *manifest.Object, namespace string) Verdict {
	return s.judge(object, namespace, func(ctx context.Context, v *version, updated *unstructured.Unstructured) error {
		stored, err := s.stored(ctx, v, old)
		if err != nil {
			return fmt.Errorf("the object that this one is to replace: %w", err)
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

// judge decodes the object and asks about it.
func (s *Server) judge(object *manifest.Object, namespace string, ask func(context.Context, *version, *unstructured.Unstructured) error) Verdict {
	v, err := s.version(object)
	if err != nil {
		return Verdict{Errors: []Refusal{{Rule: Invalid, Field: "apiVersion", Message: err.Error()}}}
	}
	var heard heard
	ctx := warning.WithWarningRecorder(context.Background(), &heard)
	ctx = klog.NewContext(ctx, logr.Discard()) // the server logs that it finds a fault twice
	ctx = request.WithNamespace(ctx, object.Key(namespace).Namespace)
	if v.deprecation != "" {
		heard.AddWarning("", v.deprecation)
	}
	if len(object.Raw) > mostBytes {
		return Verdict{Errors: refused(apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", mostBytes))), Warnings: heard.texts}
	}
	decoded, err := v.decode(object.Raw)
	if err != nil {
		verdict := Verdict{Errors: undecoded(err, object.Raw), Warnings: heard.texts}
		if decoded != nil {
			verdict.Object = anonymous(decoded)
		}
		return verdict
	}
	if err := ask(ctx, v, decoded); err != nil {
		return Verdict{Errors: refused(err), Warnings: heard.texts, Object: anonymous(decoded)}
	}
	return Verdict{Warnings: heard.texts, Object: anonymous(decoded)}
}

// neverStored is what the storage says of an object that was stored already, as one that was read from a cluster. Dry runs do not
// come as far.
func neverStored(object *unstructured.Unstructured) error {
	if version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64); err != nil || version == 0 {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Message: storedOnce,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: "metadata.resourceVersion", Message: storedOnce}}},
	}}
}

const storedOnce = "resourceVersion should not be set on objects to be created"

// identify gives the object what only a server can, whatever that would be.
func identify(object *unstructured.Unstructured) {
	object.SetUID("00000000-0000-0000-0000-000000000000")
	object.SetCreationTimestamp(metav1.Unix(1, 0))
	object.SetGeneration(1)
}

// anonymous takes it away again.
func anonymous(object *unstructured.Unstructured) map[string]any {
	for _, name := range []string{"uid", "creationTimestamp", "generation", "resourceVersion"} {
		unstructured.RemoveNestedField(object.Object, "metadata", name)
	}
	return object.Object
}
