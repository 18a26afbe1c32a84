package manager

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"kyklos.io/kyklos/internal/archive"
)

// A mover logs its progress even if its notes fail, and logs that failure once.
func TestMoversLogProgress(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	noted := 0
	failing := func(ctx context.Context, progress archive.Progress) error {
		if _, bounded := ctx.Deadline(); !bounded || progress.Bytes != 7 {
			t.Errorf("noted %+v, with a bound: %t", progress, bounded)
		}
		if noted++; noted == 1 {
			return nil
		}
		return errors.New("the store has no time")
	}
	report := progressReporter(log, failing)
	for range 3 {
		report(t.Context(), archive.Progress{Step: archive.Packing, Entries: 2, Bytes: 7, OfBytes: 9})
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	progressReporter(log, failing)(ended, archive.Progress{Step: archive.Verifying, Bytes: 7}) // a note that is cancelled at the end is not logged
	progressReporter(log, nil)(t.Context(), archive.Progress{Step: archive.Unpacking})
	for want, times := range map[string]int{
		"level=INFO msg=packing entries=2 bytes=7 ofEntries=0 ofBytes=9\n": 3, "msg=verifying": 1, "msg=unpacking": 1, "the store has no time": 1,
	} {
		if got := strings.Count(out.String(), want); got != times {
			t.Errorf("%q came %d times, want %d:\n%s", want, got, times, &out)
		}
	}
	if noted != 4 {
		t.Errorf("%d notes, want 4", noted)
	}
}
