package storagemigration_test

import (
	"encoding/json"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// as returns a scaler with a field that its applier may leave out later.
func as(version string, pause bool) *unstructured.Unstructured {
	object := scaler("shared", version)
	if pause {
		object.Object["spec"].(map[string]any)["pause"] = true
	}
	return object
}

func (s *stage) apply(manager string, object *unstructured.Unstructured, options ...client.PatchOption) error {
	s.Helper()
	raw, err := json.Marshal(object.Object)
	s.must(err)
	return s.Patch(s.Context(), object.DeepCopy(), client.RawPatch(types.ApplyPatchType, raw), append(options, client.FieldOwner(manager), client.ForceOwnership)...)
}

// own makes a scaler with managed fields in both versions: of two appliers, and of one editor.
func (s *stage) own() {
	s.Helper()
	s.store(newOne)
	s.setStoredVersions(newOne)
	s.must(s.apply("team", as(oldOne, true)))
	platform := scaler("shared", newOne)
	platform.Object["spec"] = map[string]any{"gracePeriodSeconds": int64(60)}
	s.must(s.apply("platform", platform))
	for version, label := range map[string]string{oldOne: "before", newOne: "after"} {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+label+`":"x"}}}`))
		s.must(s.Patch(s.Context(), scaler("shared", version), patch, client.FieldOwner("editor")))
	}
}

// drop removes the old version from the definition, or takes it out of service.
func (s *stage) drop(entirely bool) {
	s.Helper()
	s.update(func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Versions[0].Served = false
		if entirely {
			crd.Spec.Versions = crd.Spec.Versions[1:]
		}
	})
	s.eventually("the old version refused", func() bool {
		return apierrors.IsNotFound(s.Get(s.Context(), client.ObjectKey{Namespace: "default", Name: "shared"}, scaler("shared", oldOne)))
	})
}

// ownersKept checks what the appliers and the editor own: an applier's field goes when it leaves it out, and nothing
// else.
func (s *stage) ownersKept(generation int64) {
	s.Helper()
	s.must(s.apply("team", as(newOne, false)))
	object := scaler("shared", newOne)
	s.must(s.Get(s.Context(), client.ObjectKeyFromObject(object), object))
	spec := object.Object["spec"].(map[string]any)
	if spec["pause"] == true || spec["gracePeriodSeconds"] != int64(60) || object.GetGeneration() != generation+1 {
		s.Errorf("the next apply by the same manager should remove pause alone: generation %d, before it %d, %v", object.GetGeneration(), generation, spec)
	}
	var managers []string
	for _, e := range object.GetManagedFields() {
		managers = append(managers, e.Manager+" "+string(e.Operation)+" "+e.APIVersion)
		if e.Manager == "editor" && (!strings.Contains(e.FieldsV1.GetRawString(), "before") || !strings.Contains(e.FieldsV1.GetRawString(), "after")) {
			s.Errorf("the editor has lost a label: %s", e.FieldsV1)
		}
	}
	if got := strings.Join(managers, ", "); len(managers) != 3 || strings.Contains(got, oldOne) {
		s.Errorf("got the field managers %s", got)
	}
}

// A version was removed from the definition although managed fields name it: no server-side apply succeeds until they are
// moved.
func removedVersion(s *stage) {
	s.own()
	generation := s.generation()
	s.drop(true)
	s.eventually("server-side apply refused", func() bool { // the API server takes a definition over in steps
		err := s.apply("team", as(newOne, true), client.DryRunAll)
		return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "invalid group/version")
	})
	s.migrate(1000)
	s.event("ManagedFieldsMoved", "names a version that is not served (1 rewritten)")
	if got := s.generation(); got != generation {
		s.Errorf("got generation %d, was %d", got, generation)
	}
	s.ownersKept(generation)
}

// A version is taken out of service first. Then it can be removed at once. A refused object is retried.
func unservedVersion(s *stage) {
	s.own()
	generation := s.generation()
	s.drop(false)
	lift := s.forbid("timewindowscalers", "shared")
	stop := s.migrate(1000)
	s.event("StorageMigrationRefused", "The API server refused to rewrite 1 objects as v1beta1; Kyklos will retry them; all others are done; the first is default/shared: ")
	lift()
	// Any change of the definition starts over; without one, the object is retried in a minute.
	s.update(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Deprecated = true })
	s.event("ManagedFieldsMoved", "(1 rewritten); the definition can be applied without v1alpha1")
	stop()
	s.drop(true)
	s.ownersKept(generation)
}

func (s *stage) generation() int64 {
	s.Helper()
	object := scaler("shared", newOne)
	s.must(s.Get(s.Context(), client.ObjectKeyFromObject(object), object))
	return object.GetGeneration()
}
