package manager

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// TestMoversTakeTheArgumentsOfTheirJobs: the controller and the mover command must agree on the arguments.
func TestMoversTakeTheArgumentsOfTheirJobs(t *testing.T) {
	ws := &v1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "ann", UID: "u"}}
	act := lifecycle.Action{Name: "job", UID: "volume", OperationID: "op", Attempt: 1, Epoch: 3, RestoredFrom: "archives/x"}
	for operation, verb := range map[lifecycle.OperationType]string{lifecycle.Archiving: "archive", lifecycle.Restoring: "restore"} {
		move := objects.Move{Operation: operation, Limit: time.Minute, SHA256: "sum"}
		args := objects.Job(ws, act, move).Spec.Template.Spec.Containers[0].Args
		command, left, err := newCommand().Find(args)
		if err != nil || command.Name() != verb {
			t.Fatalf("%v: %v", args, err)
		}
		if err := command.ParseFlags(left); err != nil {
			t.Errorf("%v: %v", args, err)
		}
		if err := command.ValidateRequiredFlags(); err != nil {
			t.Errorf("%v: %v", args, err)
		}
		if rest := command.Flags().Args(); len(rest) > 0 {
			t.Errorf("%v: %v is not a flag", args, rest)
		}
		for flag, want := range map[string]string{
			"volume-uid": "volume", "epoch": "3", "workspace": "team/ann", "operation": "op", "sha256": "sum", "restored-from": "archives/x",
		} {
			if given := command.Flags().Lookup(flag); given != nil && given.Value.String() != want {
				t.Errorf("%s --%s=%s, want %s", verb, flag, given.Value, want)
			}
		}
	}
}
