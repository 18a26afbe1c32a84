package message

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/events"
)

// Service is what is known about the Workspace's Service.
type Service struct {
	// Reason is that of the condition ServiceReady. It is empty if nothing new is known.
	Reason string
	// Cause is why the API server rejects the Service.
	Cause string
}

// setService sets the condition ServiceReady and the address, which is empty unless the name leads to the Workspace (W84, W85).
func (f Facts) setService(status *v1alpha1.WorkspaceStatus, now time.Time) {
	if f.Service.Reason == "" {
		return
	}
	condition := metav1.Condition{
		Type: v1alpha1.ConditionServiceReady, Status: metav1.ConditionFalse, Reason: f.Service.Reason, Message: f.serviceText(),
		ObservedGeneration: f.Workspace.Generation, LastTransitionTime: *statusconv.Time(now),
	}
	status.Address = ""
	if f.Service.Reason == v1alpha1.ReasonServiceReady {
		condition.Status, status.Address = metav1.ConditionTrue, objects.Address(f.served())
	}
	meta.SetStatusCondition(&status.Conditions, condition)
}

func (f Facts) serviceText() string {
	ws := f.Workspace
	name := objects.ServiceName(ws.Name)
	switch f.Service.Reason {
	case v1alpha1.ReasonServiceReady:
		return join(fmt.Sprintf("Service %s leads to %s of the Pod.", name, portsText(f.served().Spec.Ports)), f.nextPorts())
	case v1alpha1.ReasonNoPorts:
		if later := f.nextPorts(); later != "" {
			return join("The Pod was started without ports, so there is no Service.", later)
		}
		return "spec.ports is empty, so there is no Service."
	case v1alpha1.ReasonServiceForeign:
		return fmt.Sprintf("Service %[1]s exists but does not belong to this workspace. Kyklos does not touch it and cannot create its own. "+
			"If it is not needed, delete it: `kubectl delete service -n %[2]s %[1]s`.", name, ws.Namespace)
	}
	return join(fmt.Sprintf("Service %s was rejected by the API server.", name), "Cause: "+strings.TrimRight(tail(f.Service.Cause), ".")+".",
		fmt.Sprintf("Correct the quotas and policies of namespace %s. Kyklos retries once a minute.", ws.Namespace))
}

// served is the workspace with the ports to which its Service leads.
func (f Facts) served() *v1alpha1.Workspace {
	if f.Served != nil {
		return f.Served
	}
	return f.Workspace
}

// nextPorts says that others follow (W103).
func (f Facts) nextPorts() string {
	if slices.Equal(f.served().Spec.Ports, f.Workspace.Spec.Ports) {
		return ""
	}
	return "spec.ports has changed since the Pod was started, which applies at its next start."
}

// ServiceEvents are the warnings about a Service that cannot be had, each when it begins.
func (f Facts) ServiceEvents() []events.Event {
	reason := f.Service.Reason
	if reason != v1alpha1.ReasonServiceForeign && reason != v1alpha1.ReasonServiceRefused {
		return nil
	}
	if last := meta.FindStatusCondition(f.Workspace.Status.Conditions, v1alpha1.ConditionServiceReady); last != nil && last.Reason == reason {
		return nil
	}
	return []events.Event{events.EmitWorkspaceTrouble(reason, f.serviceText())}
}
