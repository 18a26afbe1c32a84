package timewindowscaler

import (
	"testing"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
)

// Events name how long a grace period was, not how long it would be by the spec as it is now.
func TestEventsAfterAnEditedGracePeriod(t *testing.T) {
	for name, tc := range map[string]struct {
		seconds int32
		edited  string // the event of the edit
		end     string
		want    string
	}{
		"shortened":                       {60, "Grace period changed: 160s in all before scaling to 2 replicas", "2025-01-27 17:02:40", "Scaled down from 10 to 2 replicas after 160s grace period"},
		"ended by the edit":               {0, "Scaled down from 10 to 2 replicas after 100s grace period", "", ""},
		"shortened, but it ends before":   {250, "", "2025-01-27 17:05:00", "Scaled down from 10 to 2 replicas after 300s grace period"},
		"prolonged, for the next one":     {600, "", "2025-01-27 17:05:00", "Scaled down from 10 to 2 replicas after 300s grace period"},
		"another part of the spec edited": {300, "", "2025-01-27 17:05:00", "Scaled down from 10 to 2 replicas after 300s grace period"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newGrace(t)
			s.pass("2025-01-27 17:00:00")
			if s.tws.Spec.GracePeriodSeconds != 300 {
				t.Fatalf("a grace period of %d s", s.tws.Spec.GracePeriodSeconds)
			}
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.GracePeriodSeconds = tc.seconds })
			s.pass("2025-01-27 17:01:40")
			if notes := notesOf(s); tc.edited == "" && len(notes) > 0 || tc.edited != "" && (len(notes) != 1 || notes[0] != tc.edited) {
				t.Errorf("at the edit: %q, want %q", notes, tc.edited)
			}
			if tc.end == "" {
				return
			}
			s.pass("2025-01-27 17:02:00")
			if notes := notesOf(s); len(notes) > 0 {
				t.Errorf("a minute before the end: %q", notes)
			}
			s.pass(tc.end)
			if notes := notesOf(s); len(notes) != 1 || notes[0] != tc.want {
				t.Errorf("at the end: %q, want %q", notes, tc.want)
			}
		})
	}
}

// After a restart the beginning is not known; then the spec's length is named.
func TestEventsOfAGracePeriodAfterARestart(t *testing.T) {
	s := newGrace(t)
	s.pass("2025-01-27 17:00:00")
	s.obs.graceSince = time.Time{}
	s.pass("2025-01-27 17:05:00")
	if notes := notesOf(s); len(notes) != 1 || notes[0] != "Scaled down from 10 to 2 replicas after 300s grace period" {
		t.Errorf("at the end: %q", notes)
	}
}

func notesOf(s *scenario) (notes []string) {
	for _, event := range s.last.events() {
		notes = append(notes, event.Note)
	}
	return notes
}
