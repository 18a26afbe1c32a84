package workspace

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// crowded is as many Workspaces as there are movers by default.
const crowded = 10

// W56, W57: Workspaces whose movers a LimitRange refuses say so, and delay nobody in another namespace. When it is gone they go on
// by themselves.
func TestRefusedMoversDelayNobody(t *testing.T) {
	s := newScenario(t)
	crowd := &scenario{&fixtures.Workspaces{T: s.T, Namespace: s.NewNamespace("crowd-"), Store: s.Store}}
	s.Patience = 15 * time.Minute // a retry may be five minutes away
	crowd.copyStore(s)
	limits := &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: crowd.Namespace, Name: "small"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
		}}},
	}
	s.Must(s.Client.Create(t.Context(), limits))
	kyklos, err := harness.Binary("kyklos")
	s.Must(err)
	m := s.StartManager(harness.ManagerOptions{Args: append(s.ManagerArgs(), "--namespaces="+crowd.Namespace, "--mover-image="+harness.HostImage(kyklos))})
	s.AwaitReady(m)
	for i := range crowded {
		ws := crowd.NewWorkspace(fmt.Sprint("w", i), "/bin/sleep", "100000")
		ws.Spec.DesiredState = v1alpha1.DesiredStandby
		s.Must(s.Client.Create(t.Context(), ws))
	}
	s.Create("/bin/sleep", "100000")
	s.AwaitSettled(fixtures.Running)
	s.leaveFile("mine")
	crowd.all("in STANDBY", func(ws *v1alpha1.Workspace) bool { return fixtures.IsSettled(ws, fixtures.Standby) })
	for i := range crowded {
		ws := &v1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: crowd.Namespace, Name: fmt.Sprint("w", i)}}
		s.Must(s.Client.Patch(t.Context(), ws, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"desiredState":"PENDING"}}`))))
	}
	crowd.all("archiving, as far as it may", func(ws *v1alpha1.Workspace) bool {
		return ws.Status.Error != nil || ws.Status.Operation.Type == v1alpha1.OperationArchiving
	})

	s.Change(`{"desiredState":"PENDING"}`)
	s.AwaitSettled(fixtures.Archived)
	s.Change(`{"desiredState":"RUNNING"}`)
	s.AwaitSettled(fixtures.Running)
	s.expectFile("mine")

	crowd.all("refused", func(ws *v1alpha1.Workspace) bool {
		failure := ws.Status.Error
		return failure != nil && failure.Code == v1alpha1.ReasonFailedCreate && strings.Contains(failure.Message, "maximum cpu usage per Container is 2, but limit is 4") &&
			strings.Contains(failure.Message, "--mover-limits")
	})
	s.Must(s.Client.Delete(t.Context(), limits))
	crowd.all("archived", func(ws *v1alpha1.Workspace) bool { return fixtures.IsSettled(ws, fixtures.Archived) })
}

// copyStore creates the Secret of another namespace's store.
func (s *scenario) copyStore(from *scenario) {
	s.Helper()
	var secret corev1.Secret
	s.Get(from.Namespace, "store", &secret)
	s.Must(s.Client.Create(s.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "store"}, Data: secret.Data}))
}

// all waits until all Workspaces of the namespace are as wanted.
func (s *scenario) all(what string, wanted func(*v1alpha1.Workspace) bool) {
	s.Helper()
	s.Eventually("all "+what, func() error {
		var all v1alpha1.WorkspaceList
		s.Must(s.Client.List(s.Context(), &all, client.InNamespace(s.Namespace)))
		var wrong []error
		for i := range all.Items {
			if ws := &all.Items[i]; !wanted(ws) {
				wrong = append(wrong, fmt.Errorf("%s: %s", ws.Name, harness.Show(ws.Status)))
			}
		}
		return errors.Join(wrong...)
	})
}
