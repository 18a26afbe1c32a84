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

func TestProgress(t *testing.T) {
	page, err := os.ReadFile("../../../docs/workspace-status.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		progress archive.Progress
		want     string
		shown    bool // on the page
	}{
		{archive.Progress{Step: archive.Packing, Bytes: 1200 * mebi, OfBytes: 3500 * mebi, Entries: 12345, OfEntries: 20000}, "1.2 GiB of about 3.4 GiB read, 12345 files and folders", true},
		{archive.Progress{Step: archive.Packing, Bytes: 1200 * mebi, Entries: 12345}, "1.2 GiB read, 12345 files and folders", false},
		{archive.Progress{Step: archive.Verifying, Bytes: 1750 * mebi, OfBytes: 3500 * mebi}, "all is read; 1.7 GiB of 3.4 GiB (50 %) read back from the store and compared", true},
		{archive.Progress{Step: archive.Unpacking, Bytes: 1400 * mebi, OfBytes: 3500 * mebi, Entries: 5000, OfEntries: 12345}, "1.4 GiB of 3.4 GiB (40 %) unpacked, 5000 of 12345 files and folders", true},
		{archive.Progress{Step: archive.Unpacking, Entries: 1, OfEntries: 2}, "0 bytes of 0 bytes unpacked, 1 of 2 files and folders", false},
		{archive.Progress{Step: archive.Unpacking, Bytes: 1<<63 - 1, OfBytes: gibi, Entries: 1<<63 - 1, OfEntries: 1<<63 - 1}, // a lie
			"8388608.0 TiB of 1.0 GiB (100 %) unpacked, 9223372036854775807 of 9223372036854775807 files and folders", false},
		{archive.Progress{Step: "x\n", Bytes: 1}, "", false},
	} {
		got := message.Progress(test.progress)
		if got != test.want || len(got) > 256 { // the status' bound
			t.Errorf("%+v: %q, want %q", test.progress, got, test.want)
		}
		if test.shown && !strings.Contains(string(page), " "+got+" |") {
			t.Errorf("the page does not show %q", got)
		}
	}
	if got := message.Uploaded(64 * mebi); got != "64.0 MiB are in the store" || !strings.Contains(string(page), "`"+got+"`") {
		t.Error(got)
	}
}
