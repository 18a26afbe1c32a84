package metrics_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/internal/metrics"
)

// All series of a definition are zero before its first migration, and each record changes only its own.
func TestStorageMigration(t *testing.T) {
	const names = "kyklos_storage_migration_active kyklos_storage_migration_objects_left kyklos_storage_migration_objects_total"
	compare := func(active, left, refused string) {
		t.Helper()
		want := `
# HELP kyklos_storage_migration_active 1 while objects may be stored in another version than the storage version, else 0.
# TYPE kyklos_storage_migration_active gauge
kyklos_storage_migration_active{crd="things.example"} ` + active + `
# HELP kyklos_storage_migration_objects_left Objects listed by Kyklos's own storage migration and not rewritten yet, refused ones included.
# TYPE kyklos_storage_migration_objects_left gauge
kyklos_storage_migration_objects_left{crd="things.example"} ` + left + `
# HELP kyklos_storage_migration_objects_total Objects processed by Kyklos's own storage migration, by result: rewritten, unchanged, superseded, gone or refused.
# TYPE kyklos_storage_migration_objects_total counter
kyklos_storage_migration_objects_total{crd="things.example",result="gone"} 0
kyklos_storage_migration_objects_total{crd="things.example",result="refused"} ` + refused + `
kyklos_storage_migration_objects_total{crd="things.example",result="rewritten"} 0
kyklos_storage_migration_objects_total{crd="things.example",result="superseded"} 0
kyklos_storage_migration_objects_total{crd="things.example",result="unchanged"} 0
`
		if err := testutil.GatherAndCompare(ctrlmetrics.Registry, strings.NewReader(want), strings.Fields(names)...); err != nil {
			t.Error(err)
		}
	}
	metrics.RecordMigration("things.example", metrics.Migration{})
	compare("0", "0", "0")
	metrics.RecordMigration("things.example", metrics.Migration{Active: true, Left: 7})
	metrics.RecordMigratedObject("things.example", metrics.MigrationRefused)
	compare("1", "7", "1")
	metrics.RecordMigration("things.example", metrics.Migration{})
	compare("0", "0", "1")
}
