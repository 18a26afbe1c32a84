package timewindowscaler

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// leaseReader answers no request while it hangs, and then that there is no Lease.
type leaseReader struct {
	client.Reader
	lock               sync.Mutex
	hangs              bool
	asked, under, most int
}

func (r *leaseReader) Get(ctx context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	r.lock.Lock()
	r.asked++
	r.under++
	r.most = max(r.most, r.under)
	hangs := r.hangs
	r.lock.Unlock()
	defer func() {
		r.lock.Lock()
		defer r.lock.Unlock()
		r.under--
	}()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return apierrors.NewNotFound(coordinationv1.Resource("leases"), key.Name)
}

// B13: a Lease that cannot be read keeps no worker, stops nothing, and is said when it lasts. What is not due any more is not asked again.
func TestAHeartbeatThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, reader := time.Now(), &leaseReader{hangs: true}
		r := &Reconciler{Clients: target.Clients{APIReader: reader}, attempts: attempts.New(8, func() time.Duration { return time.Since(began) })}
		tws := &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "hours"}, Spec: v1beta1.TimeWindowScalerSpec{TargetRef: v1beta1.TargetRef{Name: "ann"}}}
		ctx := log.IntoContext(t.Context(), logr.Discard())
		ann := func() *observation { return &observation{target: &target.Workspace{Common: target.Common{UID: "1"}}} }

		obs := ann()
		if _, err := r.heartbeatOf(ctx, tws, obs, true, began); err == nil || lasts(err) || obs.target == nil || time.Since(began) > 10*time.Second {
			t.Fatalf("the first failure after %s: %v", time.Since(began), err)
		}
		time.Sleep(time.Minute) // of the bubble
		obs = ann()
		read, err := r.heartbeatOf(ctx, tws, obs, true, began)
		if err != nil || !read || obs.target != nil || obs.unavailable == nil || !strings.Contains(obs.unavailable.Error(), "get Lease ws-ann-activity") {
			t.Errorf("when it lasts: %v, %+v", err, obs)
		}
		if reader.asked != 1 {
			t.Errorf("asked %d times, without a turn", reader.asked)
		}

		if _, err := r.heartbeatOf(ctx, tws, ann(), false, began); err != nil {
			t.Errorf("nothing is to be stopped: %v", err)
		}
		reader.hangs, obs = false, ann()
		if read, err := r.heartbeatOf(ctx, tws, obs, true, began); err != nil || !read || !obs.heartbeat.read || obs.target == nil {
			t.Errorf("it answers: %v, %+v", err, obs)
		}
		if read, err := r.heartbeatOf(ctx, tws, obs, true, began); err != nil || read || reader.asked != 2 {
			t.Errorf("read again: %v, %v, asked %d times", read, err, reader.asked)
		}
	})
}

// B13: at the end of a window for very many Workspaces of a namespace a few are asked about at a time, and the others wait without a worker.
func TestHeartbeatsOfManyWorkspaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, reader := time.Now(), &leaseReader{hangs: true}
		r := &Reconciler{Clients: target.Clients{APIReader: reader}, attempts: attempts.New(8, func() time.Duration { return time.Since(began) })}
		ctx := log.IntoContext(t.Context(), logr.Discard())
		busy := make(chan bool, 100)
		for i := range cap(busy) {
			name := fmt.Sprintf("a%d", i)
			tws := &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}, Spec: v1beta1.TimeWindowScalerSpec{TargetRef: v1beta1.TargetRef{Name: name}}}
			go func() {
				_, err := r.heartbeatOf(ctx, tws, &observation{target: &target.Workspace{}}, true, began)
				busy <- err != nil
			}()
			synctest.Wait()
		}
		if waiting := len(busy); waiting < 90 || reader.most > 8 {
			t.Errorf("%d wait without a worker, %d requests at a time", waiting, reader.most)
		}
		time.Sleep(time.Minute) // of the bubble: the requests end
		synctest.Wait()
	})
}
