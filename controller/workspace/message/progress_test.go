package message_test

import (
	"os"
	"strings"
	"testing"

	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/internal/archive"
)

const (
	mebi = 1 << 20
	gibi = 1 << 30
)

// steps are the progress of movers. The documentation shows the first three.
var steps = []archive.Progress{
	{Step: archive.Packing, Bytes: 1200 * mebi, OfBytes: 3500 * mebi, Entries: 12345, OfEntries: 20000},
	{Step: archive.Verifying, Bytes: 1750 * mebi, OfBytes: 3500 * mebi},
	{Step: archive.Unpacking, Bytes: 1400 * mebi, OfBytes: 3500 * mebi, Entries: 5000, OfEntries: 12345},
	{Step: archive.Packing, Bytes: 1200 * mebi, Entries: 12345},
	{Step: archive.Unpacking, Entries: 1, OfEntries: 2},
	{Step: archive.Unpacking, Bytes: 1<<63 - 1, OfBytes: gibi, Entries: 1<<63 - 1, OfEntries: 1<<63 - 1}, // impossible numbers
	{Step: "x\n", Bytes: 1}, // unknown: no text
}

func TestProgress(t *testing.T) {
	page, err := os.ReadFile("../../../docs/workspace-status.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, progress := range steps {
		got := message.Progress(progress)
		if len(got) > 256 || (got == "") != (progress.Step == "x\n") {
			t.Errorf("%+v: %q does not fit into the status", progress, got)
		}
		if i < 3 && !strings.Contains(string(page), " "+got+" |") {
			t.Errorf("the page does not show %q", got)
		}
	}
	if got := message.Uploaded(64 * mebi); !strings.Contains(string(page), "`"+got+"`") {
		t.Errorf("the page does not show %q", got)
	}
}
