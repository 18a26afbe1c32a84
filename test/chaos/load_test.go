package chaos

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// One scaler and its target are updated as fast as the API server can, with changes that do not concern the schedule. The
// boundary of another scaler is met, the flooded target is written once, and memory stays bounded.
func TestFlood(t *testing.T) {
	l := newLone(t)
	l.SetClock("2025-01-27 08:59:00")
	for _, name := range []string{"flooded", "calm"} {
		l.officeHours(fixtures.Deployments, name, 3, "09:00", "17:00")
	}
	l.start()
	l.awaitCount(fixtures.Deployments, "flooded", 0)
	l.awaitCount(fixtures.Deployments, "calm", 0)
	before := l.Sum(l.manager, "process_resident_memory_bytes")
	passes := l.Sum(l.manager, "controller_runtime_reconcile_total")

	var sent atomic.Int64
	stop := l.flood("flooded", &sent)
	enough := int64(lasts(200, 10_000))
	l.Until("the flood", func() bool { return sent.Load() > enough/2 })
	l.SetClock("2025-01-27 09:00:00")
	began := time.Now()
	l.awaitCount(fixtures.Deployments, "calm", 3)
	l.measured("F17", "another scaler's boundary during a flood: settled after", time.Since(began))
	l.awaitWritten(2, 3)
	l.Until("all of the flood", func() bool { return sent.Load() > enough })
	l.Must(stop())
	l.awaitCount(fixtures.Deployments, "flooded", 3) // its status may have met nothing but conflicts
	l.wroteOnly(fixtures.Deployments, "flooded", 3)
	grown := l.Sum(l.manager, "process_resident_memory_bytes") - before
	if grown > 100e6 {
		t.Errorf("the manager grew by %.0f MB", grown/1e6)
	}
	l.measured("F17", "passes for each update of a flood", (l.Sum(l.manager, "controller_runtime_reconcile_total")-passes)/float64(sent.Load()))
}

// flood updates a scaler and its target until the returned function is called, and counts what it has sent.
func (l *lone) flood(name string, sent *atomic.Int64) (end func() error) {
	l.Helper()
	ctx, stop := context.WithCancel(l.Context())
	var flood errgroup.Group
	for worker := range 4 {
		flood.Go(func() error {
			for i := 0; ctx.Err() == nil; i++ {
				patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"flood":"%d-%d"}}}`, worker, i))
				err := l.Client.Patch(ctx, &v1beta1.TimeWindowScaler{ObjectMeta: l.Named(name)}, patch)
				if err == nil {
					err = l.Client.Patch(ctx, fixtures.Deployments.Reference(l.Named(name)), patch)
				}
				if err != nil && ctx.Err() == nil {
					return err
				}
				sent.Add(2)
			}
			return nil
		})
	}
	return func() error {
		stop()
		return flood.Wait()
	}
}

// The manager that serves the webhooks is killed. Scalers go on, can be edited and deleted, and so can a namespace full of
// them.
func TestWebhooksDown(t *testing.T) {
	s := newScenario(t)
	l := &lone{scenario: s, proxy: s.StartProxy()}
	l.SetClock("2025-01-27 08:59:00")
	l.officeHours(fixtures.Deployments, "web", 3, "09:00", "17:00")
	served := s.Start(nil, "--leader-elect=false")
	l.AwaitReady(served)
	l.AwaitSettled(1, 0)
	full := l.NewNamespace("full-")
	for i := range 100 {
		tws := s.officeHoursOf(fixtures.Deployments, fmt.Sprint("web-", i), 1, "09:00", "17:00")
		tws.Namespace, tws.Finalizers = full, []string{"example.com/wait"}
		l.Must(l.Client.Create(t.Context(), tws))
	}
	l.Must(served.Kill())
	l.start()

	l.SetClock("2025-01-27 09:00:00")
	l.AwaitSettled(1, 3) // the status is written
	l.Patch(&v1beta1.TimeWindowScaler{ObjectMeta: l.Named("web")}, `{"spec":{"defaultReplicas":1}}`)
	l.SetClock("2025-01-27 17:00:00")
	l.AwaitSettled(1, 1)

	l.Must(l.Client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: full}}))
	for i := range 100 {
		tws := &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Namespace: full, Name: fmt.Sprint("web-", i)}}
		l.Patch(tws, `{"metadata":{"finalizers":null}}`)
	}
	l.Until("the namespace gone", func() bool {
		return apierrors.IsNotFound(l.Client.Get(t.Context(), client.ObjectKey{Name: full}, &corev1.Namespace{}))
	})
}
