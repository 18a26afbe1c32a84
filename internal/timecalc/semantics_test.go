package timecalc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// TestSemantics keeps the table of clock changes in docs/semantics.md true. The times come from the
// engine's boundaries; the length is counted by the oracle, minute by minute.
func TestSemantics(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "semantics.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), "<!-- clock-changes:begin")
	marker, rest, ok2 := strings.Cut(rest, "-->\n")
	_, tail, ok3 := strings.Cut(rest, "<!-- clock-changes:end -->")
	if !ok || !ok2 || !ok3 {
		t.Fatal("docs/semantics.md has lost the markers of the table")
	}
	checkGolden(t, path, head+"<!-- clock-changes:begin"+marker+"-->\n"+clockChangeTable(t)+"<!-- clock-changes:end -->"+tail)
}

func clockChangeTable(t *testing.T) string {
	t.Helper()
	rows := []struct{ what, zone, date, start, end string }{
		{"skips 02:00-03:00", "Europe/Berlin", "2026-03-29", "02:30", "04:30"},
		{"skips 02:00-03:00", "Europe/Berlin", "2026-03-29", "01:00", "02:30"},
		{"skips 02:00-03:00", "Europe/Berlin", "2026-03-29", "02:15", "02:45"},
		{"skips 02:00-03:00", "America/New_York", "2026-03-08", "02:30", "04:30"},
		{"skips 00:00-01:00", "Africa/Cairo", "2026-04-24", "00:00", "06:00"},
		{"skips 02:00-02:30", "Australia/Lord_Howe", "2026-10-04", "01:00", "03:00"},
		{"repeats 02:00-03:00", "Europe/Berlin", "2026-10-25", "02:30", "04:30"},
		{"repeats 02:00-03:00", "Europe/Berlin", "2026-10-25", "01:00", "02:30"},
		{"repeats 02:00-03:00", "Europe/Berlin", "2026-10-25", "01:00", "05:00"},
		{"repeats 01:00-02:00", "America/New_York", "2026-11-01", "01:00", "02:00"},
		{"repeats 23:00-00:00", "America/Santiago", "2026-04-04", "22:00", "23:30"},
		{"skips the next 00:00-01:00", "Africa/Cairo", "2026-04-23", "18:00", "24:00"},
		{"repeats 23:00-00:00", "America/Santiago", "2026-04-04", "18:00", "24:00"},
		{"repeats the next 00:00-01:00", "America/Havana", "2026-10-31", "18:00", "24:00"},
	}
	var table strings.Builder
	table.WriteString("| Zone and date | The clock | Window | Open | In all |\n|---|---|---|---|---|\n")
	for _, row := range rows {
		zone := mustZone(t, row.zone)
		at, err := time.Parse(time.DateOnly, row.date)
		if err != nil {
			t.Fatal(err)
		}
		date := at.Year()*10000 + int(at.Month())*100 + at.Day()
		set := newSchedule([]spec{{weekdays, row.start, row.end, 1}})
		minutes := 0
		for i, tl := 0, observe(around(row.date, zone, at.Unix())); i < tl.count(); i++ {
			if r := tl.readings[i]; r.date == date && set.covering[r.weekday][r.minute] != 0 {
				minutes++
			}
		}
		open, length := openings(set, zone, at)
		if length != time.Duration(minutes)*time.Minute {
			t.Errorf("%v: the engine has it open for %v, the oracle for %d minutes", row, length, minutes)
		}
		fmt.Fprintf(&table, "| %s %s | %s | daily %s-%s | %s | %d h %02d min |\n",
			row.zone, row.date, row.what, row.start, row.end, open, minutes/60, minutes%60)
	}
	return table.String()
}

// openings lists the pieces of time, begun on one local date, during which the window is open, and their
// length in all.
func openings(set *schedule, zone *time.Location, at time.Time) (text string, length time.Duration) {
	var pieces []string
	now := at.Add(-24 * time.Hour).In(zone)
	for now.Before(at.Add(48 * time.Hour)) {
		next := timecalc.ComputeNextBoundary(set.windows, now)
		open := timecalc.ActiveWindow(set.windows, now) == 0
		if open && now.Format(time.DateOnly) == at.Format(time.DateOnly) {
			length += next.Sub(now)
			pieces = append(pieces, now.Format("15:04 -07:00")+" to "+next.Format("15:04 -07:00"))
		}
		now = next
	}
	if pieces == nil {
		return "not at all", 0
	}
	return strings.Join(pieces, "; "), length
}
