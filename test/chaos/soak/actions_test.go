package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness/fixtures"
)

func (o *object) scalerReference() *v1beta1.TimeWindowScaler {
	return &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: o.name}}
}

// editable reports whether the object's scaler may be edited: the model does not know what becomes of a grace period that
// has begun, or in which order a manager learns of an edit and of a holiday. A Workspace follows only its edges.
func (o *object) editable() bool {
	return o.grace == 0 && !o.holidays && o.kind.TargetKind != fixtures.Homes
}

// some draws up to count free objects for an action, and keeps them until the returned function is called for each.
func (s *soak) some(random *rand.Rand, count int, suits func(*object) bool) (chosen []*object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range random.Perm(len(s.objects)) {
		if o := s.objects[i]; len(chosen) < count && !o.busy && suits(o) {
			o.busy = true
			chosen = append(chosen, o)
		}
	}
	return chosen
}

func (s *soak) free(o *object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.busy = false
}

// longestAction ends an action on many objects when the API server is slow.
const longestAction = 20 * time.Second

// each acts on some objects one after another.
func (s *soak) each(random *rand.Rand, least, most int, suits func(*object) bool, act func(o *object, random *rand.Rand)) (string, func()) {
	count := min(least+random.IntN(most-least), 1+len(s.objects)/4)
	return fmt.Sprintf("%d times", count), func() {
		began := time.Now()
		for _, o := range s.some(random, count, suits) {
			if time.Since(began) < longestAction {
				act(o, random)
			}
			s.free(o)
			s.pause(time.Duration(random.IntN(200)) * time.Millisecond)
		}
	}
}

func specsEdited(s *soak, random *rand.Rand) (string, func()) {
	return s.each(random, 10, 60, (*object).editable, func(o *object, random *rand.Rand) {
		now := time.Now()
		o.plan = drawPlan(random, now, s.gap, boundaries, o.kind.counts)
		windows, err := json.Marshal(o.plan.windows(o.zone))
		if err != nil {
			s.failed("encode the windows: %v", err)
		}
		done := o.change(now, o.plan, false)
		s.try(func(ctx context.Context) error {
			return s.client.Patch(ctx, o.scalerReference(), merge(`{"spec":{"windows":%s}}`, windows))
		})
		done(time.Now())
	})
}

// scalersPaused pauses scalers for up to a minute, which outlasts the storm.
func scalersPaused(s *soak, random *rand.Rand) (string, func()) {
	count, d := 3+random.IntN(10), min(seconds(random, 2, 60), *length/4)
	set := func(o *object, paused bool) {
		done := o.change(time.Now(), o.plan, paused)
		s.try(func(ctx context.Context) error {
			return s.client.Patch(ctx, o.scalerReference(), merge(`{"spec":{"pause":%v}}`, paused))
		})
		done(time.Now())
	}
	return fmt.Sprintf("%d times, for %s", count, d), func() {
		for _, o := range s.some(random, count, (*object).editable) {
			set(o, true)
			s.background.Go(func() {
				s.pause(d)
				set(o, false)
				s.free(o)
			})
		}
	}
}

// targetsScaled sets counts as a user does. It does so rarely enough that Kyklos sees no fight.
func targetsScaled(s *soak, random *rand.Rand) (string, func()) {
	calmly := func(o *object) bool { return !o.kind.OnOff() && o.grace == 0 && o.undisturbedFor(5*time.Minute) }
	return s.each(random, 3, 15, calmly, func(o *object, _ *rand.Rand) {
		o.disturb(time.Now())
		s.try(func(ctx context.Context) error {
			return s.client.Patch(ctx, o.reference(), merge(`{"spec":{"replicas":%d}}`, foreign))
		})
		o.disturb(time.Now())
	})
}

// targetsRecreated deletes targets and creates them again with another count.
func targetsRecreated(s *soak, random *rand.Rand) (string, func()) {
	suits := func(o *object) bool {
		return o.kind.TargetKind != fixtures.Homes && o.grace == 0 && o.undisturbedFor(2*time.Minute)
	}
	return s.each(random, 3, 12, suits, func(o *object, random *rand.Rand) {
		o.disturb(time.Now())
		s.try(func(ctx context.Context) error {
			return client.IgnoreNotFound(s.client.Delete(ctx, o.reference(), client.PropagationPolicy(metav1.DeletePropagationBackground)))
		})
		s.pause(time.Duration(random.IntN(2000)) * time.Millisecond)
		s.try(func(ctx context.Context) error { return ignoreExists(s.client.Create(ctx, o.target(foreign))) })
		o.disturb(time.Now())
	})
}

func scalersRecreated(s *soak, random *rand.Rand) (string, func()) {
	return s.each(random, 2, 8, (*object).editable, func(o *object, random *rand.Rand) {
		done := o.change(time.Now(), o.plan, true)
		s.try(func(ctx context.Context) error {
			return client.IgnoreNotFound(s.client.Delete(ctx, o.scalerReference()))
		})
		done(time.Now())
		s.pause(time.Duration(random.IntN(2000)) * time.Millisecond)
		done = o.change(time.Now(), o.plan, false)
		s.try(func(ctx context.Context) error { return ignoreExists(s.client.Create(ctx, o.scaler())) })
		done(time.Now())
	})
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// editing guards the ConfigMaps.
var editing sync.Mutex

// holidaysEdited makes today a holiday in one namespace, or an ordinary day again.
func holidaysEdited(s *soak, random *rand.Rand) (string, func()) {
	namespace, closed := fmt.Sprint("soak-", random.IntN(namespaces)), random.IntN(2) == 0
	return fmt.Sprintf("in %s, closed: %v", namespace, closed), func() {
		editing.Lock()
		defer editing.Unlock()
		now := time.Now()
		var done []func(time.Time)
		for _, o := range s.objects {
			if !o.holidays || o.namespace != namespace {
				continue
			}
			asked := o.plan
			if closed {
				asked = plan{{time.Time{}, defaultCount}}
			}
			done = append(done, o.change(now, asked, false))
		}
		dates := []string{}
		for _, day := range []int{-1, 0, 1} { // whatever the zone
			value := `null`
			if closed {
				value = `"holiday"`
			}
			dates = append(dates, fmt.Sprintf("%q:%s", now.UTC().AddDate(0, 0, day).Format(time.DateOnly), value))
		}
		book := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: holidays}}
		s.try(func(ctx context.Context) error {
			return s.client.Patch(ctx, book, merge(`{"data":{%s}}`, strings.Join(dates, ",")))
		})
		for _, d := range done {
			d(time.Now())
		}
	}
}

// undisturbedFor reports whether others have left the target alone for that long.
func (m *model) undisturbedFor(d time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.others) > d
}
