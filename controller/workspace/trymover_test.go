package workspace

import (
	"errors"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// refuseMovers refuses the Pods of movers as a LimitRange does, and counts how often it was asked.
func (w *world) refuseMovers(asked *int) {
	w.faults.refuse = func(verb string, object client.Object) error {
		if pod, ok := object.(*corev1.Pod); ok && verb == "create" && pod.Labels[objects.LabelRole] == objects.RoleMover {
			*asked++
			return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("maximum cpu usage per Container is 2"))
		}
		return nil
	}
}

// W57: there is no Job whose Pod is refused, the status says why, and the Workspace goes on by itself.
func TestARefusedMoverIsNotStarted(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	asked := 0
	w.refuseMovers(&asked)
	w.desire(v1alpha1.DesiredPending)
	w.expectRetries(v1alpha1.FailureReason(lifecycle.ActionFailed), lifecycle.CodeFailedCreate,
		"maximum cpu usage per Container is 2", "--mover-limits")
	var jobs batchv1.JobList
	var secrets corev1.SecretList
	w.update(w.server.List(t.Context(), &jobs))
	w.update(w.server.List(t.Context(), &secrets))
	if asked != 6 || len(jobs.Items) > 0 || len(secrets.Items) != 1 {
		t.Errorf("asked %d times, %d Jobs, %d Secrets: want six attempts and nothing but the store's Secret", asked, len(jobs.Items), len(secrets.Items))
	}
	w.faults.refuse = nil
	w.converge()
	w.expectState("ARCHIVED")
}

// W57: a Job that gets no Pod is asked about after a minute. Only a refusal ends the attempt.
func TestAJobWithoutAPod(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	w.keepJobs = true
	w.desire(v1alpha1.DesiredPending)
	pass := func(until time.Duration) {
		t.Helper()
		for end := w.clock.Now().Add(until); w.clock.Now().Before(end); {
			_ = w.pass()
			w.nodes()
			w.clock.SetTime(w.clock.Now().Add(5 * time.Second))
		}
	}
	pass(10 * time.Minute)
	if status := w.workspace().Status; status.Operation.Attempt != 1 || status.Operation.JobName == "" || status.Error != nil {
		t.Fatalf("a slow Job controller is a failure: %+v, %+v", status.Operation, status.Error)
	}
	asked := 0
	w.refuseMovers(&asked)
	pass(30 * time.Second)
	status := w.workspace().Status
	if status.Error == nil || status.Error.Code != v1alpha1.ReasonFailedCreate || status.Operation.Attempt != 2 {
		t.Fatalf("%+v, %+v", status.Operation, status.Error)
	}
	w.faults.refuse, w.keepJobs = nil, false
	w.converge()
	w.expectState("ARCHIVED")
}

// Those who wait are woken when a long move has ended, although its Pod is gone before its status says so.
func TestTheEndOfAMoveWakesOthers(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	var woken []types.NamespacedName
	w.r.reservations.wake = func(keys ...types.NamespacedName) { woken = append(woken, keys...) }
	w.keepJobs = true
	w.desire(v1alpha1.DesiredPending)
	for range 30 {
		_ = w.pass()
		w.clock.SetTime(w.clock.Now().Add(5 * time.Second))
	}
	other := neighbour("other", "")
	w.r.reservations.movers.wait(other, lifecycle.Restoring, w.clock.Now())
	w.keepJobs = false
	w.converge()
	w.expectState("ARCHIVED")
	if !slices.Contains(woken, client.ObjectKeyFromObject(other)) {
		t.Errorf("woken: %v", woken)
	}
}

// W55: the parts of a large volume's upload must fit into a mover's memory.
func TestMemoryOfLargeVolumes(t *testing.T) {
	t.Parallel()
	limits := func(memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	for _, tc := range []struct {
		of       corev1.ResourceRequirements
		partSize int64
		says     string
	}{
		{limits("256Mi"), 32 << 20, ""},
		{limits("256Mi"), 64 << 20, "a mover for a volume of this size needs 384Mi of memory: raise memory in --mover-limits of the manager, which is 256Mi"},
		{limits("384Mi"), 64 << 20, ""},
		{corev1.ResourceRequirements{}, 1 << 30, ""},
		{objects.DefaultMoverResources(), 256 << 20, ""},
	} {
		if err := objects.FitsMemory(tc.of, tc.partSize); (err == nil) != (tc.says == "") || err != nil && err.Error() != tc.says {
			t.Errorf("%v, want %q", err, tc.says)
		}
	}
}
