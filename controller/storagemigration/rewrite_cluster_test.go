package storagemigration_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// withoutMigrator keeps the cluster's own migrator away: the API server does not serve its API.
const withoutMigrator = "--apiserver-arg=--runtime-config=storagemigration.k8s.io/v1=false"

// One control plane for all that Kyklos does itself, without objects at the beginning of each turn.
func TestKyklosMigratesItself(t *testing.T) {
	s := newStage(t, withoutMigrator)
	for _, turn := range []struct {
		name string
		run  func(*stage)
	}{
		{"every object is rewritten once", everyObjectOnce},
		{"objects that would be refused today", refusedToday},
		{"a refused object", refusedObject},
		{"a storm of conflicts", conflictStorm},
		{"the storage version moves back meanwhile", movesBackMeanwhile},
		{"a version is removed", removedVersion},
		{"a version is taken out of service", unservedVersion},
	} {
		t.Run(turn.name, func(t *testing.T) {
			of := *s
			of.T = t
			of.clear()
			turn.run(&of)
		})
	}
}

// clear restores the state that newStage returned.
func (s *stage) clear() {
	s.Helper()
	s.must(s.DeleteAllOf(s.Context(), scaler("", newOne), client.InNamespace("default")))
	s.must(s.DeleteAllOf(s.Context(), &eventsv1.Event{}, client.InNamespace("default")))
	s.store(oldOne)
	s.setStoredVersions(oldOne)
}

// More than a page of objects is rewritten, each once, and nothing in them changes; a second pass
// writes nothing; and the way back is the same.
func everyObjectOnce(s *stage) {
	const count = 620
	s.fill(count)
	before := s.objects()
	s.allStored(count, oldOne, "1")

	s.store(newOne)
	stop := s.migrate(1000)
	s.migrated(newOne)
	s.allStored(count, newOne, "2")
	if diff := cmp.Diff(before, s.objects()); diff != "" {
		s.Errorf("the objects have changed (-before +after):\n%s", diff)
	}
	s.event("StorageMigrationStarted", "by Kyklos itself: the cluster does not serve storagemigration.k8s.io/v1")
	s.event("StorageMigrationCompleted", fmt.Sprintf("%d rewritten, 0 written by others, 0 already in this version", count))

	s.setStoredVersions(oldOne, newOne)
	s.migrated(newOne)
	s.event("StorageMigrationCompleted", fmt.Sprintf("0 rewritten, 0 written by others, %d already in this version", count))
	s.allStored(count, newOne, "2")
	stop()

	s.store(oldOne)
	s.migrate(1000)
	s.migrated(oldOne)
	s.allStored(count, oldOne, "3")
	if diff := cmp.Diff(before, s.objects()); diff != "" {
		s.Errorf("the objects have changed on the way back (-before +after):\n%s", diff)
	}
}

// An object that was stored under a laxer definition, and that today's schema and rules refuse, is rewritten as
// it is.
func refusedToday(s *stage) {
	wrong := map[string]func(spec map[string]any){
		"zone":    func(spec map[string]any) { spec["timezone"] = "Mars/Olympus_Mons" },
		"local":   func(spec map[string]any) { spec["timezone"] = "Local" },
		"kind":    func(spec map[string]any) { spec["targetRef"] = map[string]any{"kind": "CronJob", "name": "x"} },
		"type":    func(spec map[string]any) { spec["defaultReplicas"] = "three" },
		"missing": func(spec map[string]any) { delete(spec, "windows") },
		"empty": func(spec map[string]any) {
			spec["windows"] = []any{map[string]any{"days": []any{"Mon", "Mon"}, "start": "09:00", "end": "09:00", "replicas": int64(-3)}}
		},
	}
	s.storeWith(oldOne, laxDefinition())
	for name, spoil := range wrong {
		object := scaler(name, oldOne)
		spoil(object.Object["spec"].(map[string]any))
		// The storage version is the one of before: only this shows that the API server uses the lax definition.
		s.eventually("the lax definition at work", func() bool {
			return client.IgnoreAlreadyExists(s.Create(s.Context(), object.DeepCopy())) == nil
		})
	}
	s.store(newOne)
	for name, spoil := range wrong {
		object := scaler(name+"-again", newOne)
		spoil(object.Object["spec"].(map[string]any))
		if err := s.Create(s.Context(), object); !apierrors.IsInvalid(err) {
			s.Errorf("%s: creating it today: %v, want a refusal", name, err)
		}
	}
	before := s.objects()
	s.migrate(1000)
	s.migrated(newOne)
	s.allStored(len(wrong), newOne, "2")
	if diff := cmp.Diff(before, s.objects()); diff != "" {
		s.Errorf("the objects have changed (-before +after):\n%s", diff)
	}
}

// One object that the API server refuses does not block the others, and the old version stays listed
// until it is rewritten, too.
func refusedObject(s *stage) {
	const count = 20
	s.fill(count)
	s.store(newOne)
	lift := s.forbid("timewindowscalers/status", "s0007")
	s.migrate(1000)
	s.event("StorageMigrationRefused", "The API server refused to rewrite 1 objects as v1beta1; Kyklos will retry them; all others are done; the first is default/s0007: ")
	want := map[harness.Stored]int{{Version: oldOne, Writes: "1"}: 1, {Version: newOne, Writes: "2"}: count - 1}
	if diff := cmp.Diff(want, tally(s.stored())); diff != "" {
		s.Error(diff)
	}
	if got := s.definition().Status.StoredVersions; !cmp.Equal(got, []string{oldOne, newOne}) {
		s.Errorf("storedVersions %v while one object is left", got)
	}
	lift()
	// Any change of the definition restarts the migration; without one, the object is retried in a minute.
	s.update(func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Deprecated = true })
	s.migrated(newOne)
	s.allStored(count, newOne, "2")
}

// forbid makes the API server refuse updates of one object by a policy, and returns when it does.
func (s *stage) forbid(resource, name string) (lift func()) {
	s.Helper()
	meta := metav1.ObjectMeta{Name: "forbid"}
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
			ResourceNames: []string{name},
			RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{"kyklos.io"}, APIVersions: []string{"*"}, Resources: []string{resource}},
			},
		}}},
		Validations: []admissionv1.Validation{{Expression: "false", Message: "not this one"}},
	}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: meta.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
	}}
	s.must(s.Create(s.Context(), policy))
	s.must(s.Create(s.Context(), binding))
	refused := func() bool {
		object := scaler(name, newOne)
		patch := client.RawPatch(types.MergePatchType, []byte("{}"))
		if resource == "timewindowscalers" {
			return s.Patch(s.Context(), object, patch, client.DryRunAll) != nil
		}
		return s.Status().Patch(s.Context(), object, patch, client.DryRunAll) != nil
	}
	s.eventually("the policy at work", refused)
	return func() {
		s.must(s.Delete(s.Context(), binding))
		s.must(s.Delete(s.Context(), policy))
		s.eventually("the policy gone", func() bool { return !refused() })
	}
}

// Writers that never pause lose nothing and block nothing.
func conflictStorm(s *stage) {
	const count, writers = 60, 4
	s.fill(count)
	s.store(newOne)
	var all sync.WaitGroup
	done := make(chan struct{})
	last := make([]map[string]string, writers)
	for w := range writers {
		last[w] = map[string]string{}
		all.Go(func() {
			for round := 0; ; round++ {
				for i := w; i < count; i += writers {
					select {
					case <-done:
						return
					default:
					}
					name, value := fmt.Sprintf("s%04d", i), fmt.Sprint(round)
					patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"round":%q}}}`, value)
					if err := s.Patch(s.Context(), scaler(name, oldOne), client.RawPatch(types.MergePatchType, patch)); err != nil {
						s.Error(err)
						return
					}
					last[w][name] = value
				}
			}
		})
	}
	s.migrate(200)
	s.migrated(newOne)
	close(done)
	all.Wait()
	s.allVersion(newOne)
	for _, written := range last {
		for name, value := range written {
			object := scaler(name, newOne)
			s.must(s.Get(s.Context(), client.ObjectKeyFromObject(object), object))
			if got, _, _ := unstructured.NestedString(object.Object, "metadata", "annotations", "round"); got != value {
				s.Errorf("%s: the writer last wrote %s, the object has %s", name, value, got)
			}
		}
	}
}

// The storage version moves back while objects are being rewritten.
func movesBackMeanwhile(s *stage) {
	s.fill(40)
	s.store(newOne)
	s.migrate(20)
	s.eventually("some objects rewritten", func() bool {
		rewritten := 0
		for _, object := range s.stored() {
			if object.Version == newOne {
				rewritten++
			}
		}
		return rewritten >= 5
	})
	s.store(oldOne)
	s.migrated(oldOne)
	s.allVersion(oldOne)
}
