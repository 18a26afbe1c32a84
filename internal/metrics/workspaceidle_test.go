package metrics_test

import (
	"testing"

	"kyklos.io/kyklos/internal/metrics"
)

func TestIdleWorkspacesAreCounted(t *testing.T) {
	expect(t, []string{
		`kyklos_workspace_idle_total{desired="PENDING"} 0`,
		`kyklos_workspace_idle_total{desired="STANDBY"} 0`,
	}, `desired=`, "kyklos_workspace_idle_total")
	metrics.RecordWorkspaceIdle("STANDBY")
	expect(t, []string{
		`kyklos_workspace_idle_total{desired="PENDING"} 0`,
		`kyklos_workspace_idle_total{desired="STANDBY"} 1`,
	}, `desired=`, "kyklos_workspace_idle_total")
}
