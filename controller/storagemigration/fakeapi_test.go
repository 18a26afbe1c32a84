package storagemigration

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	svmv1 "k8s.io/api/storagemigration/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	svmclient "k8s.io/client-go/kubernetes/typed/storagemigration/v1"
	"k8s.io/client-go/metadata"
)

var things = schema.GroupResource{Group: "example", Resource: "things"}

func (w *world) answers() error {
	if w.down {
		return apierrors.NewServiceUnavailable("down")
	}
	return nil
}

// definitions, migrations and objects are the world's clients; unused methods are missing.
type definitions struct {
	apiextensionsclient.CustomResourceDefinitionInterface
	*world
}

func (w definitions) Patch(_ context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*definition, error) {
	var patch definition
	if err := json.Unmarshal(data, &patch); err != nil || w.down {
		return nil, apierrors.NewServiceUnavailable("down")
	}
	if patch.ResourceVersion != w.crd.ResourceVersion {
		return nil, apierrors.NewConflict(schema.GroupResource{}, name, nil)
	}
	crd := w.crd.DeepCopy()
	crd.Status.StoredVersions = patch.Status.StoredVersions
	if patch.Status.Conditions != nil {
		crd.Status.Conditions = patch.Status.Conditions
	}
	w.store(crd)
	return crd, nil
}

type migrations struct {
	svmclient.StorageVersionMigrationInterface
	*world
}

func (w migrations) Get(_ context.Context, name string, _ metav1.GetOptions) (*svmv1.StorageVersionMigration, error) {
	switch {
	case w.down:
		return nil, w.answers()
	case !w.serves:
		return nil, apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{}, name, "404 page not found", 0, true)
	case w.svm == nil:
		return nil, apierrors.NewNotFound(schema.GroupResource{}, name)
	}
	return w.svm.DeepCopy(), nil
}

func (w migrations) Create(_ context.Context, svm *svmv1.StorageVersionMigration, _ metav1.CreateOptions) (*svmv1.StorageVersionMigration, error) {
	if w.down {
		return nil, w.answers()
	}
	created := svm.DeepCopy()
	created.UID, created.CreationTimestamp = types.UID(w.bump()), metav1.NewTime(w.now)
	w.svm = created
	return created, nil
}

func (w migrations) Delete(_ context.Context, _ string, o metav1.DeleteOptions) error {
	if !w.down && w.svm != nil && *o.Preconditions.UID == w.svm.UID {
		w.svm = nil
	}
	return w.answers()
}

type stored struct {
	metadata.Interface
	metadata.ResourceInterface
	*world
}

func (w stored) Resource(schema.GroupVersionResource) metadata.Getter { return w }

func (w stored) Namespace(string) metadata.ResourceInterface { return w }

func (w stored) List(_ context.Context, o metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	if w.down {
		return nil, w.answers()
	}
	epoch, after, _ := strings.Cut(o.Continue, "@")
	if o.Continue != "" && epoch != strconv.Itoa(w.epoch) {
		gone := apierrors.NewResourceExpired("expired")
		if w.renews {
			gone.ErrStatus.Continue = w.token(after)
		}
		return nil, gone
	}
	page := &metav1.PartialObjectMetadataList{}
	for _, name := range slices.Sorted(maps.Keys(w.objects)) {
		if name <= after {
			continue
		}
		if len(page.Items) == pageLength {
			page.Continue = w.token(page.Items[pageLength-1].Name)
			break
		}
		page.Items = append(page.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: "n", Name: name, ResourceVersion: w.objects[name].revision, ManagedFields: w.objects[name].managedFields(),
		}})
	}
	return page, nil
}

// token continues a list after the object of that name.
func (w *world) token(name string) string { return strconv.Itoa(w.epoch) + "@" + name }

func (w stored) Patch(_ context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, subresources ...string) (*metav1.PartialObjectMetadata, error) {
	var patch metav1.PartialObjectMetadata
	if err := json.Unmarshal(data, &patch); err != nil || (len(subresources) == 0) != (len(patch.ManagedFields) == 1) {
		panic(fmt.Sprintf("patch %s of %v: %v", data, subresources, err))
	}
	o := w.objects[name]
	switch {
	case w.down:
		return nil, w.answers()
	case o == nil:
		return nil, apierrors.NewNotFound(things, name)
	case o.revision != patch.ResourceVersion:
		return nil, apierrors.NewConflict(things, name, nil)
	case o.refused:
		return nil, apierrors.NewForbidden(things, name, nil)
	case len(patch.ManagedFields) > 0:
		_, o.owned, _ = strings.Cut(patch.ManagedFields[0].APIVersion, "/")
		w.write(o)
	case o.version != storageVersion(w.crd).Name:
		w.write(o)
	}
	patch.ResourceVersion = o.revision
	return &patch, nil
}
