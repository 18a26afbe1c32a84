package workspace

import (
	"errors"
	"flag"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// live runs a Workspace through its whole life (W34, W35, W37): made, used, stopped, archived, restored,
// deleted.
func (w *world) live() {
	w.Helper()
	w.converge()
	w.expectState("RUNNING")
	w.write("first")
	w.desire(v1alpha1.DesiredStandby)
	w.converge()
	w.expectState("STANDBY")
	w.expectContent("first")
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	w.expectState("ARCHIVED")
	if w.has("ws-home-home", &corev1.PersistentVolumeClaim{}) {
		w.Error("the archived home is still on its volume")
	}
	w.desire(v1alpha1.DesiredRunning)
	w.converge()
	w.expectState("RUNNING")
	w.expectContent("first")
	w.write("second")
	w.update(w.server.Delete(w.Context(), w.workspace()))
	w.converge()
	if w.workspace() != nil {
		w.Errorf("the Workspace is still there: %+v", w.workspace().Status)
	}
	w.nothingIsLeft()
}

// nothingIsLeft checks that all that was made for the Workspace is gone.
func (w *world) nothingIsLeft() {
	w.Helper()
	w.nodes()
	w.nodes()
	var claims corev1.PersistentVolumeClaimList
	var jobs batchv1.JobList
	var pods corev1.PodList
	var secrets corev1.SecretList
	w.update(w.server.List(w.Context(), &claims))
	w.update(w.server.List(w.Context(), &jobs))
	w.update(w.server.List(w.Context(), &pods))
	w.update(w.server.List(w.Context(), &secrets))
	if len(claims.Items)+len(jobs.Items)+len(pods.Items) > 0 {
		w.Errorf("left behind: %d claims, %d Jobs, %d Pods", len(claims.Items), len(jobs.Items), len(pods.Items))
	}
	for _, secret := range secrets.Items {
		if secret.Name != storeName {
			w.Errorf("the ticket %s is left behind", secret.Name)
		}
	}
}

func TestALife(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace())
	w.live()
	t.Logf("%d writes:\n%s", w.faults.writes, strings.Join(w.faults.log, "\n"))
}

// full tries every fault at every write; by default each write has one of them.
var full = flag.Bool("full", false, "let every write of a Workspace's life fail in every way: a minute")

// A write that was not executed, one whose answer was lost, one with a conflict,
// and one that is refused: at each write of a whole life, and each followed by a restart of the manager.
func TestEveryWriteCanFail(t *testing.T) {
	t.Parallel()
	whole := newWorld(t, aWorkspace())
	whole.live()
	for kind, fault := range []faults{
		{fail: errors.New("connection refused")},
		{fail: errors.New("connection reset"), lost: true},
		{fail: apierrors.NewConflict(schema.GroupResource{}, "home", errors.New("somebody else wrote it"))},
		{fail: apierrors.NewForbidden(schema.GroupResource{}, "home", errors.New("exceeded quota"))},
	} {
		t.Run(fault.fail.Error(), func(t *testing.T) {
			t.Parallel()
			for at := 1; at <= whole.faults.writes; at++ {
				if !*full && at%4 != kind {
					continue
				}
				w := newWorld(t, aWorkspace())
				*w.faults = fault
				w.faults.at = at
				w.restart()
				w.live()
				if t.Failed() {
					t.Fatalf("write %d failed:\n%s", at, strings.Join(w.faults.log, "\n"))
				}
			}
		})
	}
}
