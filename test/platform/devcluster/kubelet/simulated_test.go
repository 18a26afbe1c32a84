package kubelet

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

func pod(annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: "5e5f27a5-8d5b-4b8e-9f6f-1d3c9a2b7c11", Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}, {Name: "b"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
}

func condition(t rapid.TB, status corev1.PodStatus, kind corev1.PodConditionType) corev1.PodCondition {
	t.Helper()
	var found []corev1.PodCondition
	for _, c := range status.Conditions {
		if c.Type == kind {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d conditions of type %s, want 1", len(found), kind)
	}
	return found[0]
}

// stored is what the API gives back: times lose what is below a second.
func stored(status corev1.PodStatus) corev1.PodStatus {
	status.StartTime = new(metav1.NewTime(status.StartTime.Truncate(time.Second)))
	return status
}

func TestSyncFollowsTheAnnotations(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		phase       corev1.PodPhase
		ready       corev1.ConditionStatus
		says        string // part of the Ready condition's reason and message
	}{
		"none":            {nil, corev1.PodRunning, corev1.ConditionTrue, ""},
		"running":         {map[string]string{PhaseAnnotation: "Running"}, corev1.PodRunning, corev1.ConditionTrue, ""},
		"pending":         {map[string]string{PhaseAnnotation: "Pending"}, corev1.PodPending, corev1.ConditionFalse, "ContainersNotReady"},
		"succeeded":       {map[string]string{PhaseAnnotation: "Succeeded"}, corev1.PodSucceeded, corev1.ConditionFalse, "PodSucceeded"},
		"failed":          {map[string]string{PhaseAnnotation: "Failed"}, corev1.PodFailed, corev1.ConditionFalse, "PodFailed"},
		"no such phase":   {map[string]string{PhaseAnnotation: "failed"}, corev1.PodPending, corev1.ConditionFalse, `"failed": write Pending`},
		"held":            {map[string]string{ReadyAnnotation: "false"}, corev1.PodRunning, corev1.ConditionFalse, "Held"},
		"let go":          {map[string]string{ReadyAnnotation: "true"}, corev1.PodRunning, corev1.ConditionTrue, ""},
		"delayed":         {map[string]string{ReadyDelayAnnotation: "5s"}, corev1.PodRunning, corev1.ConditionFalse, "5s after its start"},
		"no delay":        {map[string]string{ReadyDelayAnnotation: "0s"}, corev1.PodRunning, corev1.ConditionTrue, ""},
		"not a duration":  {map[string]string{ReadyDelayAnnotation: "5"}, corev1.PodRunning, corev1.ConditionFalse, `"5": write a duration`},
		"held over delay": {map[string]string{ReadyAnnotation: "false", ReadyDelayAnnotation: "0s"}, corev1.PodRunning, corev1.ConditionFalse, "Held"},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, err := Simulated{}.Sync(context.Background(), pod(c.annotations), noon)
			if err != nil {
				t.Fatal(err)
			}
			ready := condition(t, status, corev1.PodReady)
			if status.Phase != c.phase || ready.Status != c.ready {
				t.Errorf("phase %s, ready %s; want %s, %s", status.Phase, ready.Status, c.phase, c.ready)
			}
			if !strings.Contains(ready.Reason+": "+ready.Message, c.says) {
				t.Errorf("Ready says %s: %s, want %q", ready.Reason, ready.Message, c.says)
			}
			for _, container := range status.ContainerStatuses {
				if container.Ready != (c.ready == corev1.ConditionTrue) || (container.State.Running != nil) != (c.phase == corev1.PodRunning) {
					t.Errorf("container %s contradicts the pod: %+v", container.Name, container)
				}
			}
			if len(status.ContainerStatuses) != 2 || status.PodIP == "" {
				t.Errorf("want two containers and an address: %+v", status)
			}
		})
	}
}

func TestExitCodesMatchThePhase(t *testing.T) {
	for phase, want := range map[string]int32{"Succeeded": 0, "Failed": 1} {
		status, _, _ := Simulated{}.Sync(context.Background(), pod(map[string]string{PhaseAnnotation: phase}), noon)
		for _, container := range status.ContainerStatuses {
			if end := container.State.Terminated; end == nil || end.ExitCode != want {
				t.Errorf("%s: container %s ended as %+v, want exit code %d", phase, container.Name, end, want)
			}
		}
	}
}

// A pod that has ended stays as it is, whatever its annotations say later.
func TestEndIsFinal(t *testing.T) {
	ended := pod(map[string]string{PhaseAnnotation: "Failed"})
	ended.Status, _, _ = Simulated{}.Sync(context.Background(), ended, noon)
	ended.Annotations[PhaseAnnotation] = "Running"
	status, again, _ := Simulated{}.Sync(context.Background(), ended, noon.Add(time.Hour))
	if diff := cmp.Diff(ended.Status, status); diff != "" || again != 0 {
		t.Errorf("an ended pod changed (again in %s):\n%s", again, diff)
	}
}

// Asking again changes nothing: no status write, hence no loop through the pod's own update event.
func TestSyncIsIdempotent(t *testing.T) {
	for _, annotations := range []map[string]string{nil, {ReadyAnnotation: "false"}, {PhaseAnnotation: "Pending"}, {ReadyDelayAnnotation: "1h"}} {
		p := pod(annotations)
		first, _, _ := Simulated{}.Sync(context.Background(), p, noon)
		p.Status = first
		second, _, _ := Simulated{}.Sync(context.Background(), p, noon.Add(time.Minute))
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("%v: a second Sync changed the status:\n%s", annotations, diff)
		}
	}
}

func TestOthersConditionsStay(t *testing.T) {
	p := pod(nil)
	gate := corev1.PodCondition{Type: "example.org/gate", Status: corev1.ConditionTrue}
	p.Status.Conditions = []corev1.PodCondition{gate}
	status, _, _ := Simulated{}.Sync(context.Background(), p, noon)
	if diff := cmp.Diff(gate, condition(t, status, gate.Type)); diff != "" {
		t.Error(diff)
	}
}

func TestTransitionTimeMovesWithTheStatusOnly(t *testing.T) {
	p := pod(map[string]string{ReadyAnnotation: "false"})
	p.Status, _, _ = Simulated{}.Sync(context.Background(), p, noon)
	p.Annotations[ReadyAnnotation] = "true"
	later := noon.Add(time.Minute)
	status, _, _ := Simulated{}.Sync(context.Background(), p, later)
	if at := condition(t, status, corev1.PodReady).LastTransitionTime; !at.Time.Equal(later) {
		t.Errorf("Ready changed at %s, want %s", at, later)
	}
	if at := condition(t, status, corev1.PodInitialized).LastTransitionTime; !at.Time.Equal(noon) {
		t.Errorf("Initialized changed at %s, want %s", at, noon)
	}
}

// For any start, delay and moment of asking: never ready early, never more than a second late, and each
// answer "not yet" names the moment when the next one is "ready".
func TestReadyDelayIsNeverShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := noon.Add(time.Duration(rapid.Int64Range(0, int64(time.Second)-1).Draw(t, "start")))
		delay := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "delay"))
		passed := time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "passed"))
		runtime := Simulated{ReadyDelay: delay}
		p := pod(nil)
		first, _, _ := runtime.Sync(context.Background(), p, start)
		p.Status = stored(first)

		status, again, _ := runtime.Sync(context.Background(), p, start.Add(passed))
		ready := condition(t, status, corev1.PodReady).Status == corev1.ConditionTrue
		if ready && passed < delay {
			t.Fatalf("ready after %s, delay is %s", passed, delay)
		}
		if !ready && passed > delay+time.Second {
			t.Fatalf("not ready after %s, delay is %s", passed, delay)
		}
		if ready != (again == 0) {
			t.Fatalf("ready %t but asks for another Sync in %s", ready, again)
		}
		if !ready {
			status, again, _ = runtime.Sync(context.Background(), p, start.Add(passed+again))
			if again != 0 || condition(t, status, corev1.PodReady).Status != corev1.ConditionTrue {
				t.Fatalf("still not ready at the moment it named")
			}
		}
	})
}

func TestAddressIsStable(t *testing.T) {
	one, two := address("one"), address("two")
	if one != address("one") || one == two || !strings.HasPrefix(one, "11.") {
		t.Errorf("addresses %s and %s: want stable, distinct ones in 11.0.0.0/8", one, two)
	}
}
