package metrics_test

import (
	"testing"

	"kyklos.io/kyklos/internal/metrics"
)

func TestTheArchiveGCsSeries(t *testing.T) {
	metrics.RecordArchiveStores(metrics.ArchiveStores{Done: 9, Lost: 1}, 30)
	metrics.RecordArchiveStores(metrics.ArchiveStores{Done: 1, Refused: 2, Failed: 3, Foreign: 4}, 20)
	metrics.RecordArchivesDeleted(2, 1)
	metrics.RecordArchivesDeleted(3, 0)
	expect(t, []string{
		`kyklos_archive_gc_deleted_total{} 5`,
		`kyklos_archive_gc_orphans{} 20`,
		`kyklos_archive_gc_stores{result="done"} 1`,
		`kyklos_archive_gc_stores{result="failed"} 3`,
		`kyklos_archive_gc_stores{result="foreign"} 4`,
		`kyklos_archive_gc_stores{result="lost"} 0`,
		`kyklos_archive_gc_stores{result="refused"} 2`,
		`kyklos_archive_gc_uploads_ended_total{} 1`,
	}, "kyklos_archive_gc_")
}
