package targetkind_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

func TestValues(t *testing.T) {
	web := &v1beta1.TimeWindowScaler{Spec: v1beta1.TimeWindowScalerSpec{TargetRef: v1beta1.TargetRef{Name: "web"}}}
	for name, tc := range map[string]struct {
		obj  client.Object
		want []string
	}{
		"a scaler":                {web, []string{"web"}},
		"a scaler with no target": {&v1beta1.TimeWindowScaler{}, nil},
		"another kind":            {&corev1.ConfigMap{}, nil},
	} {
		if diff := cmp.Diff(tc.want, targetkind.IndexName(tc.obj)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestSameTarget(t *testing.T) {
	web := v1beta1.TargetRef{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	for name, tc := range map[string]struct {
		other v1beta1.TargetRef
		want  bool
	}{
		"equal":                        {web, true},
		"namespace left out":           {v1beta1.TargetRef{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Namespace: "shop"}, true},
		"another name":                 {v1beta1.TargetRef{Kind: "Deployment", Name: "api"}, false},
		"another version of the group": {v1beta1.TargetRef{APIVersion: "apps/v2", Kind: "Deployment", Name: "web"}, true},
		"a version left out":           {v1beta1.TargetRef{Kind: "Deployment", Name: "web"}, true},
		"another group":                {v1beta1.TargetRef{APIVersion: "example.com/v1", Kind: "Deployment", Name: "web"}, false},
		"another kind of one name":     {v1beta1.TargetRef{Kind: "StatefulSet", Name: "web"}, false},
	} {
		if got := targetkind.SameTarget(web, tc.other); got != tc.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// Exactly one of two objects owns the target, in either order of the arguments.
func TestPrecedesIsATotalOrder(t *testing.T) {
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	object := rapid.Custom(func(t *rapid.T) client.Object {
		return &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{
			UID:               types.UID(rapid.StringMatching("[a-c]{2}").Draw(t, "uid")),
			CreationTimestamp: metav1.NewTime(start.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "age")) * time.Second)),
		}}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := object.Draw(t, "a"), object.Draw(t, "b"), object.Draw(t, "c")
		ab, ba := targetkind.Precedes(a, b), targetkind.Precedes(b, a)
		if same := cmp.Equal(a, b); same == (ab || ba) || ab && ba {
			t.Fatalf("same object: %v, a first: %v, b first: %v", same, ab, ba)
		}
		if ab && targetkind.Precedes(b, c) && !targetkind.Precedes(a, c) {
			t.Fatal("not transitive")
		}
		if older := b.GetCreationTimestamp(); ab && older.Time.Before(a.GetCreationTimestamp().Time) {
			t.Fatal("the younger one owns the target")
		}
	})
}

// The oldest scaler of the very target owns it, unless it is being deleted.
func TestOwner(t *testing.T) {
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	web := v1beta1.TargetRef{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	scaler := func(name, kind string, age time.Duration, deleted bool) v1beta1.TimeWindowScaler {
		s := v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(start.Add(-age))}}
		s.Spec.TargetRef = v1beta1.TargetRef{Kind: kind, Name: "web"}
		if deleted {
			s.DeletionTimestamp = &s.CreationTimestamp
		}
		return s
	}
	scalers := []v1beta1.TimeWindowScaler{
		scaler("young", "Deployment", time.Hour, false), scaler("old", "Deployment", 2*time.Hour, false),
		scaler("gone", "Deployment", 3*time.Hour, true), scaler("another-kind", "DaemonSet", 4*time.Hour, false),
	}
	if owner := targetkind.Owner(scalers, web); owner != &scalers[1] {
		t.Errorf("got %v, want old", owner)
	}
	if owner := targetkind.Owner(scalers[2:], web); owner != nil {
		t.Errorf("got %s, want none", owner.Name)
	}
}
