package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// project returns a folder with this Makefile.
func project(t *testing.T, makefile string) string {
	folder := t.TempDir()
	harness.Must(t, os.WriteFile(filepath.Join(folder, "Makefile"), []byte(makefile), 0o600))
	return folder
}

func TestBuild_SaysWhatFailed(t *testing.T) {
	folder := project(t, "good:\n\t@echo is built\nbad:\n\t@echo no network >&2; exit 3\n")
	var out bytes.Buffer
	if err := build(t.Context(), folder, "good", &out); err != nil || !strings.Contains(out.String(), "is built\n") {
		t.Errorf("a target that can be built: %q, %v", out.String(), err)
	}
	out.Reset()
	if err := build(t.Context(), folder, "bad", &out); err == nil || !strings.HasPrefix(err.Error(), "make bad: ") || !strings.Contains(out.String(), "no network\n") {
		t.Errorf("a target that cannot be built: %q, %v", out.String(), err)
	}
}

// Ctrl-C leaves no compiler behind: the pipe ends when the last process that writes into it has ended.
func TestBuild_StopsWhatMakeRuns(t *testing.T) {
	folder := project(t, "endless:\n\t@echo started; exec sleep 100000\n")
	read, write, err := os.Pipe()
	harness.Must(t, err)
	j := inBackground(t.Context(), func(ctx context.Context) error { return build(ctx, folder, "endless", write) })
	output := bufio.NewReader(read)
	for line := ""; line != "started\n"; {
		line, err = output.ReadString('\n')
		harness.Must(t, err)
	}
	harness.Must(t, write.Close())
	j.stop()
	if err := j.wait(); err == nil {
		t.Error("a build that was stopped has no error")
	}
	_, err = io.ReadAll(output)
	harness.Must(t, err)
}
