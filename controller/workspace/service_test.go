package workspace

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
)

// served is a Workspace with a port.
func served(ws *v1alpha1.Workspace) { ws.Spec.Ports = []int32{8080} }

// service is the Workspace's Service; nil if there is none.
func (w *world) service() *corev1.Service {
	w.Helper()
	service, err := get(w.Context(), w.server, home.Namespace, objects.ServiceName(home.Name), &corev1.Service{})
	if err != nil {
		w.Fatal(err)
	}
	return service
}

// expectService checks the condition ServiceReady and the address.
func (w *world) expectService(reason, address string) {
	w.Helper()
	status := w.workspace().Status
	condition := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionServiceReady)
	if condition == nil || condition.Reason != reason || (condition.Status == metav1.ConditionTrue) != (address != "") || status.Address != address {
		w.Errorf("got %+v and the address %q, want %s and %q", condition, status.Address, reason, address)
	}
}

const address = "ws-home.team.svc:8080"

// A Workspace with ports has a Service, also while it is stopped or archived, mended after edits, until it has none (W84, W85).
func TestServiceFollowsTheSpec(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace(served))
	w.converge()
	w.expectState("RUNNING")
	w.expectService(v1alpha1.ReasonServiceReady, address)
	made := w.service()
	for _, state := range []struct {
		desired v1alpha1.DesiredState
		shown   string
	}{{v1alpha1.DesiredStandby, "STANDBY"}, {v1alpha1.DesiredPending, "ARCHIVED"}} {
		w.desire(state.desired)
		w.converge()
		w.expectState(state.shown)
		w.expectService(v1alpha1.ReasonServiceReady, address)
	}
	if made == nil || w.service() == nil || w.service().ResourceVersion != made.ResourceVersion {
		t.Errorf("it was written again: %+v", w.service())
	}

	edited := w.service()
	edited.Spec.Selector = map[string]string{"app": "thief"}
	w.update(w.server.Update(t.Context(), edited))
	w.converge()
	if got := w.service().Spec.Selector[objects.LabelWorkspaceUID]; got != string(w.workspace().UID) {
		t.Errorf("it leads to %q", got)
	}
	edited = w.service() // W107: whoever removes its owner does not get it out of Kyklos' hands
	edited.OwnerReferences, edited.Spec.TrafficDistribution = nil, ptr.To(corev1.ServiceTrafficDistributionPreferSameNode)
	w.update(w.server.Update(t.Context(), edited))
	w.converge()
	w.expectService(v1alpha1.ReasonServiceReady, address)
	if got := w.service(); !objects.Ours(w.workspace(), got) || got.Spec.TrafficDistribution != nil {
		t.Errorf("it is %+v", got)
	}
	w.update(w.server.Delete(t.Context(), w.service()))
	w.converge()
	if w.service() == nil {
		t.Error("it was not created again")
	}
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.Ports = []int32{3000, 8080} })
	w.converge()
	w.expectService(v1alpha1.ReasonServiceReady, "ws-home.team.svc:3000")
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.Ports = nil })
	w.converge()
	w.expectService(v1alpha1.ReasonNoPorts, "")
	if w.service() != nil {
		t.Error("there are no ports, and a Service")
	}
}

// A Service of somebody else is not touched, whatever the spec says. When it is gone, the Workspace gets its own.
func TestServiceOfSomebodyElse(t *testing.T) {
	t.Parallel()
	foreign := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: home.Namespace, Name: "ws-home", Labels: map[string]string{"app": "theirs"}}}
	w := newWorld(t, aWorkspace(served), foreign)
	before := w.service()
	w.converge()
	w.expectState("RUNNING")
	w.expectService(v1alpha1.ReasonServiceForeign, "")
	if got := strings.Join(w.newEvents(), "\n"); strings.Count(got, "ServiceForeign") != 1 || !strings.Contains(got, "kubectl delete service -n team ws-home") {
		t.Errorf("the events are\n%s", got)
	}
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.Ports, ws.Spec.DesiredState = nil, v1alpha1.DesiredStandby })
	w.converge()
	w.expectService(v1alpha1.ReasonNoPorts, "")
	w.change(served)
	w.converge()
	if after := w.service(); after == nil || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("it was touched: %+v", after)
	}
	w.update(w.server.Delete(t.Context(), w.service()))
	w.clock.SetTime(w.clock.Now().Add(serviceRetry))
	w.converge()
	w.expectService(v1alpha1.ReasonServiceReady, address)
}

// A Service that is refused, or a webhook that fails, holds up nothing, is said, and is tried again: not with every pass.
func TestServiceRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace(served))
	tries, cause := 0, error(apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "ws-home", errors.New("exceeded quota: team")))
	w.faults.refuse = func(verb string, object client.Object) error {
		if _, ok := object.(*corev1.Service); ok && verb == "create" {
			tries++
			return cause
		}
		return nil
	}
	w.converge()
	w.expectState("RUNNING")
	w.expectService(v1alpha1.ReasonServiceRefused, "")
	began, before := w.clock.Now(), tries
	for w.clock.Now().Sub(began) < 2*serviceRetry {
		_ = w.pass()
		w.clock.SetTime(w.clock.Now().Add(5 * time.Second))
	}
	if tries-before > 3 {
		t.Errorf("%d tries in %v", tries-before, 2*serviceRetry)
	}
	cause = apierrors.NewServiceUnavailable("etcd is away")
	w.clock.SetTime(w.clock.Now().Add(serviceRetry))
	if err := w.pass(); err != nil {
		t.Errorf("the pass failed: %v", err)
	}
	w.expectService(v1alpha1.ReasonServiceRefused, "")
	w.faults.refuse = nil
	w.clock.SetTime(w.clock.Now().Add(serviceRetry))
	w.converge()
	w.expectService(v1alpha1.ReasonServiceReady, address)
}

// Nothing is written about a Service while the Workspace is paused or being deleted.
func TestServiceIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*v1alpha1.Workspace)
		left bool
	}{
		"paused":        {func(ws *v1alpha1.Workspace) { ws.Spec.Pause = true }, true},
		"being deleted": {nil, false},
	} {
		w := newWorld(t, aWorkspace(served))
		w.converge()
		if c.edit != nil {
			w.change(c.edit)
		} else {
			w.update(w.server.Delete(t.Context(), w.workspace()))
		}
		w.update(w.server.Delete(t.Context(), w.service()))
		for range 20 {
			_ = w.pass()
			w.nodes()
			w.clock.SetTime(w.clock.Now().Add(serviceRetry))
		}
		if w.service() != nil || (w.workspace() != nil) != c.left {
			t.Errorf("%s: there is %+v of %v", name, w.service(), w.workspace())
		}
	}
}
