package events_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/golden"
)

// Types, reasons and notes of the events on a definition are public; notes are in the golden file.
func TestStorageMigrationTexts(t *testing.T) {
	messages := golden.NewMessages(t)
	for _, tc := range []struct {
		event        events.Event
		kind, reason string
	}{
		{events.EmitMigrationStarted("v2", "v1, v2", "by Kyklos itself: nobody else does"), corev1.EventTypeNormal, "StorageMigrationStarted"},
		{events.EmitMigrationProgress("v2", 3, "4 rewritten"), corev1.EventTypeNormal, "StorageMigrationProgress"},
		{events.EmitMigrationCompleted("v2", "7 rewritten"), corev1.EventTypeNormal, "StorageMigrationCompleted"},
		{events.EmitMigrationRefused("v2", 2, "the first is a/b: no"), corev1.EventTypeWarning, "StorageMigrationRefused"},
		{events.EmitManagedFieldsMoved(3, []string{"v1"}), corev1.EventTypeNormal, "ManagedFieldsMoved"},
	} {
		if tc.event.Type != tc.kind || tc.event.Reason != tc.reason {
			t.Errorf("got %+v, want %s %s", tc.event, tc.kind, tc.reason)
		}
		messages.Add(tc.reason, tc.event.Note)
	}
}
