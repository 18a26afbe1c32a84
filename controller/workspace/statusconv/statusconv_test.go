package statusconv_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/lifecycle"
)

// TestStatusRoundTrip: no status of the engine, for any observation, loses anything on
// the way through the API, and the API accepts it.
func TestStatusRoundTrip(t *testing.T) {
	api, met := newCRDValidator(t), map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		ws := ann()
		made := simulate(t, ws, func(status lifecycle.Status, seen lifecycle.Observation) {
			met[string(statusconv.Display(status))], met[string(status.Operation.Type)] = true, true
			met["point of no return"] = met["point of no return"] || status.Operation.PointOfNoReturn
			ws.Status = statusconv.Write(ws, status, seen)
			if diff := cmp.Diff(status, statusconv.Read(ws)); diff != "" {
				t.Fatalf("(-written +read)\n%s", diff)
			}
			if again := statusconv.Write(ws, status, seen); !cmp.Equal(ws.Status, again) {
				t.Fatalf("written twice, it is another:\n%s", cmp.Diff(ws.Status, again))
			}
			if strange := statusconv.Unknown(&ws.Status); len(strange) > 0 {
				t.Fatalf("what Kyklos wrote is unknown to it: %v", strange)
			}
			throughJSON(t, ws)
			if read := statusconv.Read(ws); read != status {
				t.Fatalf("from JSON (-written +read)\n%s", cmp.Diff(status, read))
			}
		})
		if wrong := api.refuses(t, ws); len(wrong) > 0 {
			t.Fatalf("the API server refuses %+v: %v", made, wrong)
		}
	})
	for _, each := range []string{"ERROR", "STANDBY", "RUNNING", "ARCHIVED", "RESTORING", "STARTING", "STOPPING", "ARCHIVING", "point of no return"} {
		if !met[each] {
			t.Errorf("no history came to %s", each)
		}
	}
}

// TestAnythingCanBeRead: an edited status must not stop Kyklos. An unknown value
// counts as unset, and is reported.
func TestAnythingCanBeRead(t *testing.T) {
	ws := ann()
	ws.Status = v1alpha1.WorkspaceStatus{
		Phase:     "ASLEEP",
		Operation: &v1alpha1.Operation{Type: "DANCING", ID: "x", Failed: "Tired", PointOfNoReturn: true},
		Volume:    &v1alpha1.VolumeStatus{UID: "v", Content: "Full"},
		Archive:   &v1alpha1.ArchiveStatus{SHA256: "sha256:ab", SizeBytes: -1},
		Error:     &v1alpha1.ErrorInfo{Reason: "Bored", Operation: "DANCING", Code: "Hm"},
	}
	want := lifecycle.Status{
		Volume: lifecycle.Volume{UID: "v"}, Archive: lifecycle.Archive{SHA256: "ab", Size: -1}, Error: lifecycle.Failure{Code: "Hm"},
	}
	if diff := cmp.Diff(want, statusconv.Read(ws)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	strange := []string{
		`status.phase: "ASLEEP"`, `status.operation.type: "DANCING"`, `status.operation.failed: "Tired"`,
		`status.volume.content: "Full"`, `status.error.reason: "Bored"`, `status.error.operation: "DANCING"`,
	}
	if diff := cmp.Diff(strange, statusconv.Unknown(&ws.Status)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := statusconv.Read(&v1alpha1.Workspace{}); got != (lifecycle.Status{}) {
		t.Errorf("a new Workspace: %+v", got)
	}
}

// TestDisplayFieldsStay: the last heartbeat, the progress of the same attempt, the message
// about the same error, and the Pod's name when nothing could be seen.
func TestDisplayFieldsStay(t *testing.T) {
	at := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	ws := ann()
	ws.Status = v1alpha1.WorkspaceStatus{
		LastActivityTime: statusconv.Time(at), PodName: "ws-ann",
		Operation:  &v1alpha1.Operation{Type: "ARCHIVING", ID: "op", Attempt: 1, Progress: "half"},
		Error:      &v1alpha1.ErrorInfo{Reason: "Timeout", Code: "TimedOut", Message: "slow", Context: map[string]string{"a": "b"}},
		Conditions: []metav1.Condition{{Type: "Ready"}},
	}
	status := statusconv.Read(ws)
	out := statusconv.Write(ws, status, lifecycle.Observation{Failed: true})
	if diff := cmp.Diff(ws.Status, out); diff != "" {
		t.Errorf("nothing has changed (-want +got)\n%s", diff)
	}
	status.Operation.Attempt, status.Error.Code = 2, lifecycle.CodeJobFailed
	out = statusconv.Write(ws, status, lifecycle.Observation{})
	if out.Operation.Progress != "" || out.Error.Message != "" || out.Error.Context != nil || out.PodName != "" {
		t.Errorf("old news: %+v %+v %q", out.Operation, out.Error, out.PodName)
	}
	for state, want := range map[lifecycle.Pod]string{
		{State: lifecycle.PodTerminating}:              "ws-ann",
		{State: lifecycle.PodReady, Foreign: true}:     "",
		{State: lifecycle.PodAbsent, OperationID: "x"}: "",
	} {
		if got := statusconv.Write(ws, status, lifecycle.Observation{Pod: state}).PodName; got != want {
			t.Errorf("%+v: podName %q, want %q", state, got, want)
		}
	}
}

// TestDisplay: W14.
func TestDisplay(t *testing.T) {
	for _, tc := range []struct {
		phase lifecycle.State
		key   string
		want  lifecycle.State
	}{
		{lifecycle.Pending, "", lifecycle.Pending},
		{lifecycle.Pending, "archives/x", lifecycle.Archived},
		{lifecycle.Standby, "archives/x", lifecycle.Standby},
		{lifecycle.Running, "archives/x", lifecycle.Running},
		{lifecycle.Failed, "archives/x", lifecycle.Failed},
	} {
		if got := statusconv.Display(lifecycle.Status{Phase: tc.phase, ArchiveKey: tc.key}); got != tc.want {
			t.Errorf("%s with %q: %s, want %s", tc.phase, tc.key, got, tc.want)
		}
	}
}

func TestSpec(t *testing.T) {
	ws := ann()
	ws.Generation, ws.Finalizers = 4, []string{"other", "kyklos.io/workspace"}
	ws.Annotations = map[string]string{"kyklos.io/retry": strings.Repeat("é", 200), "kyklos.io/accept-data-loss": "v1"}
	ws.Spec.Pause, ws.Spec.DeletionPolicy = true, v1alpha1.DeletionArchive
	ws.Spec.Archive = &v1alpha1.WorkspaceArchive{StoreRef: v1alpha1.StoreRef{Name: "store"}}
	ws.Spec.Timeouts = v1alpha1.WorkspaceTimeouts{ArchivingSeconds: 90, DeletingSeconds: 5}
	want := lifecycle.Workspace{
		Name: "ann", UID: "u1", Generation: 4, Desired: lifecycle.Running, Pause: true, HasStore: true, DeletionPolicy: lifecycle.ArchiveHome,
		Timeouts:             map[lifecycle.OperationType]time.Duration{lifecycle.Archiving: 90 * time.Second, lifecycle.Removing: 5 * time.Second},
		NamespaceTerminating: true, Finalizer: true, RetryToken: strings.Repeat("é", 128), AcceptedLoss: "v1",
	}
	if diff := cmp.Diff(want, statusconv.Spec(ws, true)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	ws.Annotations["kyklos.io/adopt-volume"] = "v2"
	if got := statusconv.Spec(ws, true); got.Adopts != "v2" || got.RetryToken == want.RetryToken {
		t.Errorf("a volume to adopt: %+v, want it to request a retry too", got)
	}
	if statusconv.Limit(ws, lifecycle.Archiving) != 90*time.Second || statusconv.Limit(ws, lifecycle.Starting) != 5*time.Minute || statusconv.Limit(ws, lifecycle.None) != 0 {
		t.Error("the limits are not those of the spec, or the defaults (W49)")
	}
	ws.DeletionTimestamp = statusconv.Time(time.Unix(1, 0))
	ws.Spec.DesiredState, ws.Spec.DeletionPolicy = "SOMETHING", "Burn"
	if got := statusconv.Spec(ws, false); !got.Deleting || got.Desired != lifecycle.Running || got.DeletionPolicy != lifecycle.RetainHome {
		t.Errorf("what is unknown must do no harm: %+v", got)
	}
	ws.Spec.DesiredState, ws.Spec.DeletionPolicy = v1alpha1.DesiredPending, ""
	if got := statusconv.Spec(ws, false); got.Desired != lifecycle.Pending || got.DeletionPolicy != lifecycle.DeleteHome {
		t.Errorf("%+v", got)
	}
}

// An earlier version recorded the phase before ERROR. Such a status is read, and written without it.
func TestAStatusOfAnEarlierVersion(t *testing.T) {
	ws := ann()
	stored := `{"phase": "ERROR", "previousStatus": "STANDBY", "volume": {"uid": "v", "content": "Empty", "epoch": 3}}`
	if err := json.Unmarshal([]byte(stored), &ws.Status); err != nil {
		t.Fatal(err)
	}
	read := statusconv.Read(ws)
	want := lifecycle.Status{Phase: lifecycle.Failed, Volume: lifecycle.Volume{UID: "v", Content: lifecycle.Empty, Epoch: 3}}
	if diff := cmp.Diff(want, read); diff != "" || len(statusconv.Unknown(&ws.Status)) > 0 {
		t.Errorf("(-want +got)\n%s%v", diff, statusconv.Unknown(&ws.Status))
	}
	written, err := json.Marshal(statusconv.Write(ws, read, lifecycle.Observation{Failed: true}))
	if err != nil || strings.Contains(string(written), "previousStatus") {
		t.Errorf("%s, %v", written, err)
	}
}
