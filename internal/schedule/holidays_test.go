package schedule_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/internal/schedule"
)

// R4: kubectl puts values that are not UTF-8 below binaryData.
func TestHolidayKeys(t *testing.T) {
	got := schedule.HolidayKeys(&corev1.ConfigMap{
		Data:       map[string]string{"2026-12-26": "", "2026-12-24": "a day off"},
		BinaryData: map[string][]byte{"2026-12-25": {0xff, 0xfe}, "2026-12-26": nil},
	})
	if want := []string{"2026-12-24", "2026-12-25", "2026-12-26"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := schedule.HolidayKeys(&corev1.ConfigMap{}); len(got) > 0 {
		t.Errorf("an empty ConfigMap has %q", got)
	}
}
