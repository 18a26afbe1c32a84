package workspace

import (
	"errors"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// Two managers act at once, as when a Lease changes hands while the old leader has a write in flight. One
// takes the other's ticket for one that a crash left behind, just before its Job is made or just
// afterwards. A Job without a ticket would hang until its attempt has timed out.
func TestTwoManagersLeaveNoMoverWithoutATicket(t *testing.T) {
	t.Parallel()
	for name, meet := range map[string]func(*world){"before the Job": beforeTheJob, "after the Job": afterTheJob} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := inStandby(t)
			w.desire(v1alpha1.DesiredPending)
			w.keepJobs = true
			meet(w)
			for range 20 {
				_ = w.pass()
			}
			w.faults.refuse = nil
			var jobs batchv1.JobList
			if err := w.server.List(t.Context(), &jobs, client.InNamespace(home.Namespace)); err != nil || len(jobs.Items) != 1 {
				t.Fatalf("%d Jobs, %v", len(jobs.Items), err)
			}
			if !w.has(jobs.Items[0].Name, &corev1.Secret{}) {
				t.Error("the Job has no ticket")
			}
			w.keepJobs = false
			w.converge()
			w.expectState("ARCHIVED")
		})
	}
}

// beforeTheJob runs a pass of a second manager when the first is about to create the Job.
func beforeTheJob(w *world) {
	met := false
	w.faults.refuse = func(verb string, object client.Object) error {
		if _, job := object.(*batchv1.Job); !job || verb != "create" || met {
			return nil
		}
		met = true
		first, mine := w.r, w.faults
		w.faults = &faults{}
		w.restart()
		second := w.r
		w.r, w.faults = first, mine
		_, err := second.Reconcile(w.Context(), reconcile.Request{NamespacedName: home})
		return err
	}
}

// afterTheJob lets the first manager's Job appear when the second deletes the ticket.
func afterTheJob(w *world) {
	var late client.Object
	w.faults.refuse = func(verb string, object client.Object) error {
		switch object := object.(type) {
		case *batchv1.Job:
			if verb == "create" && late == nil {
				late = object.DeepCopy()
				return errors.New("the connection was lost") // on its way
			}
		case *corev1.Secret:
			if verb == "delete" && late != nil {
				return client.IgnoreAlreadyExists(w.server.Create(w.Context(), late))
			}
		}
		return nil
	}
}
