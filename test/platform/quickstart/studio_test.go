package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// The workspace is announced once, when it is there. Without it the schedules go on.
func TestStudioIsAnnouncedOnce(t *testing.T) {
	for _, c := range []struct {
		failure error
		want    string
	}{
		{nil, "A workspace, whose process writes into its home, run/homes/studio/mia:\n"},
		{errors.New("make bin/versitygw: no network"), "There is no workspace, but the schedules work: make bin/versitygw: no network\n"},
	} {
		built := make(chan struct{})
		s := newStudio(&harness.Cluster{Dir: "run"})
		s.job = inBackground(t.Context(), func(context.Context) error { <-built; return c.failure })
		var out strings.Builder
		if s.announce(&out) || out.String() != "" {
			t.Errorf("announced before it is there: %q", out.String())
		}
		close(built)
		_ = s.job.wait()
		if !s.announce(&out) || !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("announced as %q, want %q", out.String(), c.want)
		}
		if s.announce(&out) || strings.Count(out.String(), c.want) != 1 {
			t.Errorf("announced twice: %q", out.String())
		}
		harness.Must(t, s.stop())
	}
}
