package home

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// Measure counts what Pack reports at its end, and the progress only grows in both directions.
func TestMeasureMatchesPack(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	if err := errors.Join(
		os.MkdirAll(at("a/b/c"), 0o755), os.WriteFile(at("a/file"), make([]byte, 3<<20), 0o600), os.WriteFile(at("a/b/empty"), nil, 0o600),
		os.Link(at("a/file"), at("a/b/again")), os.Symlink("file", at("a/link")), os.WriteFile(at("sparse"), nil, 0o600), os.Truncate(at("sparse"), 5<<20),
	); err != nil {
		t.Fatal(err)
	}
	if socket, err := net.Listen("unix", at("socket")); err == nil {
		defer func() { _ = socket.Close() }()
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	total, err := Measure(t.Context(), root)
	if want := (Progress{Entries: 9, Bytes: 8 << 20}); total != want || err != nil {
		t.Errorf("%+v, %v, want %+v", total, err, want)
	}
	var stream bytes.Buffer
	summary := grows(t, "Pack", total, func(report func(Progress)) (Summary, error) { return Pack(t.Context(), root, &stream, report) })
	limits := Limits{Entries: summary.Entries, Bytes: summary.Bytes}
	grows(t, "Inspect", total, func(report func(Progress)) (Summary, error) { return Inspect(t.Context(), &stream, limits, report) })
}

// grows checks that the reported progress only grows, up to total, with a report in the middle of the large file.
func grows(t *testing.T, what string, total Progress, run func(report func(Progress)) (Summary, error)) Summary {
	t.Helper()
	var last Progress
	within := false
	summary, err := run(func(now Progress) {
		if now.Entries < last.Entries || now.Bytes < last.Bytes {
			t.Errorf("%s: %+v after %+v", what, now, last)
		}
		within = within || now.Bytes > 0 && now.Bytes < 3<<20
		last = now
	})
	if err != nil {
		t.Fatal(err)
	}
	if last != total || !within || summary.Entries != total.Entries || summary.Bytes != total.Bytes {
		t.Errorf("%s ended at %+v with %+v, want %+v; it reported a part of a file: %t", what, last, summary, total, within)
	}
	return summary
}

func TestMeasureStops(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Measure(ctx, root); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want it cancelled", err)
	}
	if total, err := Measure(ctx, nil); err != nil || total != (Progress{Entries: 1}) {
		t.Errorf("a home that was never made: %+v, %v", total, err)
	}
}
