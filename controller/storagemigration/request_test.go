package storagemigration

import (
	"strings"
	"testing"
	"time"

	svmv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/internal/golden"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// thing is a definition that stores v2 and stored v1 before.
func thing() *definition {
	return &definition{
		ObjectMeta: metav1.ObjectMeta{Name: "things.example", UID: "u", Generation: 7, ResourceVersion: "1"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example", Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Served: true},
				{Name: "v2", Served: true, Storage: true, Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				}},
			},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{
			StoredVersions: []string{"v1", "v2"},
			Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{
				{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
			},
		},
	}
}

func migrating(crd *definition, status apiextensionsv1.ConditionStatus, reason string, since time.Time) *definition {
	crd.Status.Conditions = append(crd.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.StorageMigrating, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(since),
	})
	return crd
}

func TestNeeded(t *testing.T) {
	clean := func() *definition {
		crd := thing()
		crd.Status.StoredVersions = []string{"v2"}
		return crd
	}
	for name, tc := range map[string]struct {
		crd  *definition
		want bool
	}{
		"two versions":              {thing(), true},
		"the storage version alone": {clean(), false},
		"a success":                 {migrating(clean(), "False", "MigrationSucceeded", noon), false},
		"a failure":                 {migrating(clean(), "False", "MigrationFailed", noon), true},
		"one that runs":             {migrating(clean(), "True", "MigrationRunning", noon), true},
	} {
		if got := needed(tc.crd); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestEvaluate(t *testing.T) {
	asked := func(age time.Duration, conditions ...string) *svmv1.StorageVersionMigration {
		svm := newRequest(thing())
		svm.CreationTimestamp = metav1.NewTime(noon.Add(-age))
		for _, c := range conditions {
			svm.Status.Conditions = append(svm.Status.Conditions, metav1.Condition{
				Type: c, Status: metav1.ConditionTrue, Message: "so it is", LastTransitionTime: metav1.NewTime(noon.Add(-age / 2)),
			})
		}
		return svm
	}
	earlier := func(svm *svmv1.StorageVersionMigration) *svmv1.StorageVersionMigration {
		svm.Annotations[goalAnnotation] = "u/6/v2"
		return svm
	}
	theirs, elsewhere := asked(0), asked(0)
	theirs.Annotations = nil
	elsewhere.Spec.Resource.Resource = "others"
	messages := golden.NewMessages(t)
	for name, tc := range map[string]struct {
		svm  *svmv1.StorageVersionMigration
		want state
	}{
		"nothing asked":                   {nil, notRequested},
		"just asked":                      {asked(time.Second), running},
		"not picked up":                   {asked(time.Minute), unusable},
		"it runs":                         {asked(10*time.Minute, "Running"), running},
		"it runs for ever":                {asked(30*time.Minute, "Running"), unusable},
		"it failed":                       {asked(time.Minute, "Running", "Failed"), unusable},
		"it succeeded, and cleans up":     {asked(10*time.Second, "Running", "Succeeded"), running},
		"it succeeded, and cleans not up": {asked(20*time.Second, "Running", "Succeeded"), finished},
		"it succeeded":                    {asked(time.Hour, "Succeeded"), finished},
		"it succeeded before":             {earlier(asked(time.Second, "Succeeded")), outdated},
		"it failed before":                {earlier(asked(time.Second, "Failed")), outdated},
		"it was never taken up before":    {earlier(asked(time.Second)), outdated},
		"it still runs from before":       {earlier(asked(time.Second, "Running")), running},
		"it failed just now from before":  {earlier(asked(time.Second, "Running", "Failed")), running},
		"it runs for ever from before":    {earlier(asked(30*time.Minute, "Running")), unusable},
		"not by us":                       {theirs, unusable},
		"of something else":               {elsewhere, unusable},
	} {
		got, why := evaluate(tc.svm, thing(), noon)
		if got != tc.want || (why != "") != (tc.want == unusable) {
			t.Errorf("%s: %v %q, want %v", name, got, why, tc.want)
		}
		if why != "" {
			messages.Add(name, why)
		}
	}
}

// Kyklos waits for another user's migration if only that migration makes storedVersions untrusted.
func TestEvaluateWithoutRequest(t *testing.T) {
	clean := thing()
	clean.Status.StoredVersions = []string{"v2"}
	for name, tc := range map[string]struct {
		crd  *definition
		want state
	}{
		"theirs runs, all is listed as done": {migrating(clean.DeepCopy(), "True", "MigrationRunning", noon.Add(-time.Minute)), running},
		"theirs runs for ever":               {migrating(clean.DeepCopy(), "True", "MigrationRunning", noon.Add(-time.Hour)), unusable},
		"theirs failed":                      {migrating(clean.DeepCopy(), "False", "MigrationFailed", noon), notRequested},
		"theirs runs, and more is listed":    {migrating(thing(), "True", "MigrationRunning", noon), notRequested},
	} {
		if got, _ := evaluate(nil, tc.crd, noon); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// Objects are reached in the storage version where that is served, by status where there is one.
func TestEndpoint(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*definition)
		want   string
		ok     bool
	}{
		"storage version": {func(*definition) {}, "v2/status", true},
		"not served":      {func(crd *definition) { crd.Spec.Versions[1].Served = false }, "v1/", true},
		"none is served": {func(crd *definition) {
			crd.Spec.Versions[0].Served, crd.Spec.Versions[1].Served = false, false
		}, "/", false},
		"no status": {func(crd *definition) { crd.Spec.Versions[1].Subresources = nil }, "v2/", true},
	} {
		crd := thing()
		tc.change(crd)
		resource, subresources, ok := endpoint(crd)
		if got := resource.Version + "/" + strings.Join(subresources, "/"); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %s %v, want %s %v", name, got, ok, tc.want, tc.ok)
		}
	}
}
