package metrics_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/internal/metrics"
)

// A workspace has one state at a time, movers counts those running now, and all series are deleted with the workspace.
func TestWorkspaces(t *testing.T) {
	ada, bob := types.NamespacedName{Namespace: "team", Name: "ada"}, types.NamespacedName{Namespace: "team", Name: "bob"}
	movers := func(want string) {
		t.Helper()
		expect(t, []string{"kyklos_workspace_movers_active{} " + want}, "kyklos_workspace_movers_active")
	}
	metrics.RecordWorkspace(ada, metrics.Workspace{State: "RUNNING"})
	metrics.RecordWorkspace(ada, metrics.Workspace{State: "STANDBY", Moving: true})
	metrics.RecordWorkspace(ada, metrics.Workspace{State: "STANDBY", Moving: true})
	metrics.RecordWorkspace(bob, metrics.Workspace{State: "STANDBY", Moving: true})
	movers("2")
	metrics.RecordWorkspace(ada, metrics.Workspace{State: "ARCHIVED", ArchiveBytes: 42})
	movers("1")
	expect(t, []string{`kyklos_scrape_series{kind="Workspace"} 4`}, `kind="Workspace"`)
	expect(t, []string{
		`kyklos_workspace_archive_bytes{namespace="team",workspace="ada"} 42`,
		`kyklos_workspace_state{namespace="team",state="ARCHIVED",workspace="ada"} 1`,
	}, `workspace="ada"`)
	for range 2 {
		metrics.ForgetWorkspace(bob)
	}
	movers("0")
	metrics.ForgetWorkspace(ada)
	expect(t, nil, `namespace="team",`)
}

func TestWorkspaceOperations(t *testing.T) {
	metrics.RecordWorkspaceAttempt("ARCHIVING")
	metrics.RecordWorkspaceAttempt("ARCHIVING")
	for _, first := range []bool{true, false, false} {
		metrics.RecordWorkspaceFailure("ARCHIVING", "Unreachable", first)
	}
	metrics.RecordWorkspaceOperation("ARCHIVING", metrics.OperationCompleted, 12)
	expect(t, []string{
		`kyklos_workspace_attempts_total{operation="ARCHIVING"} 2`,
		`kyklos_workspace_failures_total{first="false",operation="ARCHIVING",reason="Unreachable"} 2`,
		`kyklos_workspace_failures_total{first="true",operation="ARCHIVING",reason="Unreachable"} 1`,
		`kyklos_workspace_operation_duration_seconds{operation="ARCHIVING",result="completed"} 1`,
	}, `operation="ARCHIVING"`)
}

func TestNoOperationTakesLessThanNoTime(t *testing.T) {
	metrics.RecordWorkspaceOperation("RESTORING", metrics.OperationFailed, -3600)
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if sum := metric.GetHistogram(); family.GetName() == "kyklos_workspace_operation_duration_seconds" {
				found = found || sum.GetSampleSum() == 0
				if sum.GetSampleSum() < 0 {
					t.Errorf("%s has the sum %g", metric, sum.GetSampleSum())
				}
			}
		}
	}
	if !found {
		t.Error("the operation is not counted")
	}
}
