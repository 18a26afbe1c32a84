package main

import (
	"testing"
	"time"
)

// What comes between two stages is what a Prometheus would miss: they lie one scrape interval apart.
func TestStagesAreOneScrapeApart(t *testing.T) {
	for i := 1; i < len(stages); i++ {
		before, errBefore := time.Parse(time.TimeOnly, stages[i-1].at)
		after, errAfter := time.Parse(time.TimeOnly, stages[i].at)
		if errBefore != nil || errAfter != nil || after.Sub(before) != 30*time.Second {
			t.Errorf("%s to %s: %v %v", stages[i-1].at, stages[i].at, errBefore, errAfter)
		}
	}
}

func TestMissing(t *testing.T) {
	const text = "# HELP a\na{b=\"c\"} 1\n"
	if got := missing(text, []string{`a{b="c"} 1`, "b 2"}); got != "b 2" {
		t.Errorf("missing %q", got)
	}
	if got := missing(text, nil); got != "" {
		t.Errorf("missing %q of nothing", got)
	}
}
