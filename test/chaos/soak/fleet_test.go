package soak

import (
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

const (
	namespaces = 5
	// boundaries of a plan; an edit renews it.
	boundaries = 40
	// holidays is a ConfigMap in each namespace.
	holidays = "holidays"
)

// poison is a scaler whose zone no machine knows. Admission refuses it, so it is stored behind the API server's back.
var poison = map[string]any{
	"apiVersion": "kyklos.io/v1beta1", "kind": "TimeWindowScaler",
	"metadata": map[string]any{
		"namespace": "soak-0", "name": "poison", "uid": "6f1c1c55-5f0b-4d5e-9c39-0c3c6b0f7f11", "generation": 1, "creationTimestamp": "2026-01-01T00:00:00Z",
	},
	"spec": map[string]any{
		"targetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "nobody"}, "timezone": "Mars/Olympus", "defaultReplicas": 0,
		"windows": []any{map[string]any{"days": []any{"Mon"}, "start": "09:00", "end": "17:00", "replicas": 1}},
	},
}

// createObjects creates the namespaces, their ConfigMaps and the fleet. No manager runs yet.
func (s *soak) createObjects() {
	for i := range namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("soak-", i)}}
		harness.Must(s.T, s.client.Create(s.Context(), namespace))
		book := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: holidays}}
		harness.Must(s.T, s.client.Create(s.Context(), book))
	}
	harness.Must(s.T, s.etcd.Put(s.Context(), "kyklos.io/timewindowscalers/soak-0/poison", poison))
	s.gap = time.Minute
	began := time.Now()
	for i := range *size {
		o := s.newObject(i)
		s.objects = append(s.objects, o)
		s.byKey[o.key()], s.byName[o.namespace+"/"+o.name] = o, o
	}
	s.createAll(func(o *object) client.Object { return o.target(defaultCount) })
	s.gap = gapFor(time.Since(began))
	for i := range s.objects { // again, because that took some time
		*s.objects[i] = *s.newObject(i)
	}
	s.createAll(func(o *object) client.Object { return o.scaler() })
	s.say("%d scalers and their targets are created; the boundaries of one are %s to %s apart", *size, s.gap, 3*s.gap)
}

func (s *soak) createAll(of func(*object) client.Object) {
	var created errgroup.Group
	created.SetLimit(8)
	for _, o := range s.objects {
		created.Go(func() error { return s.client.Create(s.Context(), of(o)) })
	}
	harness.Must(s.T, created.Wait())
}

// gapFor returns the gap between boundaries that keeps a machine half idle on which the targets were created in such a time:
// some scalers always have a boundary each minute, but on a machine that is busy with something else each one seldom has.
// A flip makes about four writes, and every scaler has one in one and a half gaps.
func gapFor(created time.Duration) time.Duration {
	return max((2 * 4 * created * 2 / 3).Round(time.Minute), time.Minute)
}

// newObject draws an object. Its kind follows from its number, so that every run has every kind.
func (s *soak) newObject(i int) *object {
	o := &object{kind: kindOf(i * 37 % 100), namespace: fmt.Sprint("soak-", i%namespaces), zone: drawZone(s.random)}
	name := fmt.Sprintf("%s-%03d", o.kind.Resource[:4], i)
	now := time.Now()
	switch {
	case o.kind.TargetKind == fixtures.Homes:
	case i%10 == 3:
		o.grace = 20 * time.Second
	case i%10 == 6:
		o.holidays = true
	}
	if o.grace > 0 || o.holidays || o.kind.TargetKind == fixtures.Homes { // these are never edited
		o.plan = drawPlan(s.random, now, s.gap, 2+min(95, int(*length/time.Minute)+10), o.kind.counts)
	} else {
		o.plan = drawPlan(s.random, now, s.gap, boundaries, o.kind.counts)
	}
	o.model = newModel(name, o.plan.withGrace(o.grace), now)
	if o.grace > 0 {
		o.immediate, o.gracePeriod = o.plan, o.grace
	}
	return o
}

func kindOf(i int) *kind {
	for _, k := range kinds {
		if i -= k.share; i < 0 {
			return k
		}
	}
	return kinds[0]
}

func drawZone(random *rand.Rand) string {
	return []string{"UTC", "Asia/Kolkata", "Asia/Kathmandu", "America/Bogota"}[random.IntN(len(zones))]
}
