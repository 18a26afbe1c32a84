package ruleset

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/lint/report"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/config/crd"
)

// FuzzLint holds that no file makes the whole of lint panic, also as a change of itself, and that every finding is about a place.
func FuzzLint(f *testing.F) {
	for _, pattern := range []string{"invalid/two-mistakes.yaml", "workspaces/*.yaml", "warnings/holidays-*.yaml", "v1alpha1/office-hours.yaml"} {
		files, err := filepath.Glob("../../../config/samples/" + pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	server, err := apiserver.New(crd.Bases)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		objects, problems := manifest.Parse(&manifest.File{Name: "a.yaml", Data: text})
		old, _ := manifest.Parse(&manifest.File{Name: "old.yaml", Data: text})
		for _, problem := range problems {
			if problem.Line < 1 || problem.Reason == "" {
				t.Errorf("%q in line %d", problem.Reason, problem.Line)
			}
		}
		for _, before := range []*manifest.Set{nil, {Objects: old}} {
			result, err := Run(t.Context(), &manifest.Set{Objects: objects}, Options{Server: server, Old: before, Now: time.Unix(1_800_000_000, 0)})
			if err != nil {
				t.Fatal(err)
			}
			for _, finding := range result.Findings {
				if finding.At.Line < 1 || finding.At.Column < 1 || finding.At.Length < 1 {
					t.Errorf("%+v is nowhere", finding)
				}
			}
			for _, name := range report.Formats {
				if err := report.Write(io.Discard, report.Options{Format: report.Format(name)}, result.Findings, result.Summary); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
