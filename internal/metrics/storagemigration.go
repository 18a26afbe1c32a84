package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Results of a storage migration for an object; the values of the label result.
const (
	MigrationRewritten  = "rewritten"  // stored again by the migration
	MigrationUnchanged  = "unchanged"  // was already stored in the new version
	MigrationSuperseded = "superseded" // stored again by another write
	MigrationGone       = "gone"       // deleted meanwhile
	MigrationRefused    = "refused"    // refused by the API server; retried later
)

var migrationResults = []string{MigrationRewritten, MigrationUnchanged, MigrationSuperseded, MigrationGone, MigrationRefused}

var (
	definition = []string{"crd"}

	migratedObjects = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kyklos_storage_migration_objects_total",
		Help: "Objects processed by Kyklos's own storage migration, by result: rewritten, unchanged, superseded, gone or refused.",
	}, append(definition, "result"))

	migrationActive = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kyklos_storage_migration_active",
		Help: "1 while objects may be stored in another version than the storage version, else 0.",
	}, definition)

	migrationLeft = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kyklos_storage_migration_objects_left",
		Help: "Objects listed by Kyklos's own storage migration and not rewritten yet, refused ones included.",
	}, definition)
)

func init() {
	metrics.Registry.MustRegister(migratedObjects, migrationActive, migrationLeft)
}

// Migration is what the gauges of one CustomResourceDefinition show.
type Migration struct {
	// Active is true while objects may be stored in another version than the storage version.
	Active bool
	// Left is the number of objects known to be left.
	Left int
}

// RecordMigration sets the gauges of the CustomResourceDefinition crd.
func RecordMigration(crd string, m Migration) {
	migrationActive.WithLabelValues(crd).Set(boolean(m.Active))
	migrationLeft.WithLabelValues(crd).Set(float64(m.Left))
	for _, result := range migrationResults {
		migratedObjects.WithLabelValues(crd, result) // from the start: rate() ignores a series' first value
	}
}

// RecordMigratedObject counts one object; result is one of the constants above.
func RecordMigratedObject(crd, result string) {
	migratedObjects.WithLabelValues(crd, result).Inc()
}
