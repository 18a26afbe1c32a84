package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	archiveStores = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kyklos_archive_gc_stores",
		Help: "Object stores, by what became of them in the last cycle of the archive GC: done, refused, failed, foreign or lost.",
	}, []string{"result"})

	archiveOrphans = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "kyklos_archive_gc_orphans",
		Help: "Archives that no Workspace needed in the last cycle, and that were not deleted.",
	})

	archivesDeleted = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "kyklos_archive_gc_deleted_total",
		Help: "Archives that were deleted because no Workspace needed them.",
	})

	uploadsEnded = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "kyklos_archive_gc_uploads_ended_total",
		Help: "Uploads over a day old that were ended.",
	})
)

func init() {
	metrics.Registry.MustRegister(archiveStores, archiveOrphans, archivesDeleted, uploadsEnded)
}

// ArchiveStores counts stores by what became of them.
type ArchiveStores struct {
	// Done were gone through, Refused had too much to delete, Failed could not be gone through, Foreign
	// are another installation's, and to Lost no Secret leads any more.
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

// RecordArchivesDeleted counts archives that were deleted, and uploads that were ended.
func RecordArchivesDeleted(archives, uploads int) {
	archivesDeleted.Add(float64(archives))
	uploadsEnded.Add(float64(uploads))
}
