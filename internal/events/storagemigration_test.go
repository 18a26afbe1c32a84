package events_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/internal/events"
)

// Types, reasons and notes of the events on a definition are public.
func TestStorageMigrationTexts(t *testing.T) {
	for _, tc := range []struct {
		event              events.Event
		kind, reason, note string
	}{
		{
			events.EmitMigrationStarted("v2", "v1, v2", "by Kyklos itself: nobody else does"),
			corev1.EventTypeNormal, "StorageMigrationStarted",
			"Rewriting all objects as v2, by Kyklos itself: nobody else does (status.storedVersions: v1, v2)",
		},
		{
			events.EmitMigrationProgress("v2", 3, "4 rewritten"),
			corev1.EventTypeNormal, "StorageMigrationProgress", "3 objects left to rewrite as v2 (4 rewritten)",
		},
		{
			events.EmitMigrationCompleted("v2", "7 rewritten"),
			corev1.EventTypeNormal, "StorageMigrationCompleted", "All objects are stored as v2 (7 rewritten)",
		},
		{
			events.EmitMigrationRefused("v2", 2, "the first is a/b: no"),
			corev1.EventTypeWarning, "StorageMigrationRefused",
			"The API server refused to rewrite 2 objects as v2; Kyklos will retry them; all others are done; the first is a/b: no",
		},
	} {
		if tc.event.Type != tc.kind || tc.event.Reason != tc.reason || tc.event.Note != tc.note {
			t.Errorf("got %+v, want %s %s: %s", tc.event, tc.kind, tc.reason, tc.note)
		}
	}
}
