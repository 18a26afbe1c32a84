package orphan

import (
	"testing"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
)

func TestPlan(t *testing.T) {
	now := time.Date(2026, 3, 2, 22, 0, 0, 0, time.UTC)
	retains, resumes := &v1beta1.TimeWindowScaler{}, &v1beta1.TimeWindowScaler{}
	resumes.Spec.DeletionPolicy = v1beta1.DeletionResume
	ago := func(d time.Duration) memory { return memory{goneSince: now.Add(-d)} }
	wrote := func(done step, d time.Duration) memory { return memory{}.after(done, now.Add(-d)) }
	for name, tc := range map[string]struct {
		observation
		want step
		wait time.Duration
	}{
		"running, retained":            {observation{scaler: retains}, nothing, 0},
		"suspended, retained":          {observation{scaler: retains, suspended: true}, nothing, 0},
		"to be resumed":                {observation{scaler: resumes}, mark, 0},
		"marked":                       {observation{scaler: resumes, marked: true, suspended: true}, nothing, 0},
		"somebody removes the mark":    {observation{scaler: resumes, memory: wrote(mark, 20*time.Second)}, nothing, 40 * time.Second},
		"and a minute later":           {observation{scaler: resumes, memory: wrote(mark, time.Minute)}, mark, 0},
		"somebody adds the mark":       {observation{scaler: retains, marked: true, memory: wrote(unmark, 20*time.Second)}, nothing, 40 * time.Second},
		"the clock was set back":       {observation{scaler: resumes, memory: wrote(mark, -time.Hour)}, mark, 0},
		"another policy":               {observation{scaler: retains, marked: true}, unmark, 0},
		"another policy, soon after":   {observation{scaler: retains, marked: true, memory: wrote(mark, time.Second)}, unmark, 0},
		"and back":                     {observation{scaler: resumes, memory: wrote(unmark, time.Second)}, mark, 0},
		"scheduled again after that":   {observation{scaler: resumes, memory: wrote(resume, 20*time.Second)}, mark, 0},
		"the scaler has just gone":     {observation{suspended: true, marked: true, memory: ago(0)}, nothing, grace},
		"it may be replaced":           {observation{suspended: true, marked: true, memory: ago(9 * time.Second)}, nothing, time.Second},
		"it is not replaced":           {observation{suspended: true, marked: true, memory: ago(grace)}, resume, 0},
		"its mark was taken away":      {observation{suspended: true, memory: memory{goneSince: now.Add(-grace), resumes: true}}, resume, 0},
		"nor this one":                 {observation{suspended: true, memory: ago(grace)}, report, 0},
		"gone, and the clock set back": {observation{suspended: true, memory: ago(-time.Hour)}, report, 0},
		"gone while it ran":            {observation{marked: true}, unmark, 0},
		"never ours":                   {observation{}, nothing, 0},
	} {
		tc.now = now
		tc.memory = tc.at(&tc.observation)
		if got, wait := plan(tc.observation); got != tc.want || wait != tc.wait {
			t.Errorf("%s: got %s in %s, want %s in %s", name, got, wait, tc.want, tc.wait)
		}
	}
}
