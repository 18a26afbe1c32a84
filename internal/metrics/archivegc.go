package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	archiveStores = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kyklos_archive_gc_stores",
		Help: "Object stores by result of the last archive GC cycle: done, refused, failed, foreign or lost.",
	}, []string{"result"})

	archiveOrphans = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "kyklos_archive_gc_orphans",
		Help: "Unneeded archives that were not deleted in the last cycle.",
	})

	archivesDeleted = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "kyklos_archive_gc_deleted_total",
		Help: "Archives deleted because no Workspace needed them.",
	})

	uploadsEnded = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "kyklos_archive_gc_uploads_ended_total",
		Help: "Aborted uploads that were over a day old.",
	})
)

func init() {
	metrics.Registry.MustRegister(archiveStores, archiveOrphans, archivesDeleted, uploadsEnded)
}

// ArchiveStores counts stores by result.
type ArchiveStores struct {
	// Done were checked, Refused had too much to delete, Failed could not be checked, Foreign belong to another
	// installation, and no Secret gives access to Lost any more.
	Done, Refused, Failed, Foreign, Lost int
}

// RecordArchiveStores sets the gauges after a cycle of the archive GC.
func RecordArchiveStores(stores ArchiveStores, orphans int) {
	for result, count := range map[string]int{
		"done": stores.Done, "refused": stores.Refused, "failed": stores.Failed, "foreign": stores.Foreign, "lost": stores.Lost,
	} {
		archiveStores.WithLabelValues(result).Set(float64(count))
	}
	archiveOrphans.Set(float64(orphans))
}

// RecordArchivesDeleted counts deleted archives and aborted uploads.
func RecordArchivesDeleted(archives, uploads int) {
	archivesDeleted.Add(float64(archives))
	uploadsEnded.Add(float64(uploads))
}
