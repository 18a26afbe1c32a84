package timewindowscaler

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// wakes tells whether the scaler is woken when a watch shows its target.
func (v *turns) wakes(target *appsv1.Deployment, scalers ...string) bool {
	v.Helper()
	woken := false
	h := unlessEchoed{
		EventHandler: handler.Funcs{UpdateFunc: func(context.Context, event.UpdateEvent, workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			woken = true
		}},
		echoes: &v.r.echoes, kind: cachedDeployments(v.T),
		scalers: func(context.Context, client.Object) (keys []types.NamespacedName) {
			for _, name := range append(scalers, lateScaler) {
				keys = append(keys, types.NamespacedName{Name: name})
			}
			return keys
		},
	}
	h.Update(v.Context(), event.UpdateEvent{ObjectOld: target, ObjectNew: target}, nil)
	return woken
}

func cachedDeployments(t *testing.T) target.Cached {
	t.Helper()
	return target.KindOf(v1beta1.TargetRef{Kind: "Deployment", Name: "web"}).(target.Cached)
}

func (v *turns) deployment() *appsv1.Deployment {
	return v.api.objects[targetAt("webapp")].now().(*appsv1.Deployment).DeepCopy()
}

// The echo of a write needs no pass while its report waits. Whatever looks otherwise does.
func TestEchoesNeedNoPass(t *testing.T) {
	v := newTurns(t)
	if !v.wakes(v.deployment()) {
		t.Error("nothing was written, and a change does not wake the scaler")
	}
	during := true
	v.api.meanwhile = func() { // a watch may be earlier than the answer
		echo := v.deployment()
		echo.Spec.Replicas = ptr.To[int32](10)
		during = v.wakes(echo)
	}
	v.pass()
	if during {
		t.Error("the echo wakes the scaler while the write is under way")
	}
	if v.wakes(v.deployment()) {
		t.Error("the echo wakes the scaler while its report waits")
	}
	for name, change := range map[string]func(*appsv1.Deployment){
		"another count":       func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](9) },
		"another object":      func(d *appsv1.Deployment) { d.UID = "another" },
		"one that is deleted": func(d *appsv1.Deployment) { d.DeletionTimestamp = &metav1.Time{Time: v.clock.Now()} },
	} {
		changed := v.deployment()
		change(changed)
		if !v.wakes(changed) {
			t.Errorf("%s does not wake the scaler", name)
		}
	}
	if !v.wakes(v.deployment(), "rival") {
		t.Error("the echo does not wake the other scaler of the target")
	}
	v.pass()
	v.expect("the turn", 10, 10, "ScaledUp")
	if !v.wakes(v.deployment()) {
		t.Error("the report is sent, and a change does not wake the scaler")
	}
}

// An echo that came while its write was under way is not lost if no report waits.
func TestAnEchoWithoutAReport(t *testing.T) {
	v := newTurns(t)
	var woken []types.NamespacedName
	v.r.echoes.wake = func(keys ...types.NamespacedName) { woken = append(woken, keys...) }
	v.api.meanwhile = func() {
		echo := v.deployment()
		echo.Spec.Replicas = ptr.To[int32](10)
		if v.wakes(echo) {
			t.Error("the echo wakes the scaler")
		}
	}
	v.api.answer = answerLost
	v.pass()
	if len(woken) != 1 || woken[0].Name != lateScaler {
		t.Errorf("woken: %v", woken)
	}
}

// inAFullLane runs test while others' requests fill the lane of the target.
func (v *turns) inAFullLane(others []string, test func()) {
	v.Helper()
	if len(others) == 0 {
		test()
		return
	}
	id := attempts.ID{Scaler: types.NamespacedName{Name: others[0]}, Work: attempts.WriteTarget}
	_, err := attempts.Do(v.Context(), v.r.attempts, id, targetLane(&v1beta1.TimeWindowScaler{Spec: officeHours().Spec}), attempts.Cause{}, func(context.Context) (struct{}, error) {
		v.inAFullLane(others[1:], test)
		return struct{}{}, nil
	})
	if err != nil {
		v.Fatal(err)
	}
}

// A boundary in a lane that is full takes its place in line without a look at anything, and has its turn.
func TestABoundaryInAFullLane(t *testing.T) {
	v := newTurns(t)
	var woken []types.NamespacedName
	v.r.attempts.Wake = func(keys ...types.NamespacedName) { woken = append(woken, keys...) }
	v.inAFullLane([]string{"a", "b"}, func() {
		gets := v.api.gets
		if next, writes := v.pass(); next != reportRetry || writes != 0 || v.api.gets != gets {
			t.Errorf("next after %s, %d writes, %d reads", next, writes, v.api.gets-gets)
		}
		v.expect("the lane is full", 2, 2)
	})
	if len(woken) != 1 || woken[0].Name != lateScaler {
		t.Errorf("woken: %v", woken)
	}
	v.pass()
	v.pass()
	v.expect("the turn", 10, 10, "ScaledUp")
}
