package ruleset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kyklos.io/kyklos/cli/manifest"
)

// What two overlays apply has nothing to do with each other, and what both take in is checked once. What an object replaces is in the same file
// of before.
func TestOverlays(t *testing.T) {
	t.Parallel()
	server, err := ownServer()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	read := func() *manifest.Set {
		set, err := manifest.Read([]string{dir}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	findings := func(old *manifest.Set) (lines []string) {
		result, err := Run(t.Context(), read(), Options{Server: server, Now: noon, Old: old})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range result.Findings {
			name, _ := filepath.Rel(dir, f.Object.File.Name)
			lines = append(lines, fmt.Sprintf("%s:%d %s %s", filepath.ToSlash(name), f.At.Line, f.Severity, f.Rule))
		}
		return append(lines, fmt.Sprintf("%d checked, %d of other kinds", len(result.Summary.Checked), result.Summary.Skipped))
	}
	write("base/kustomization.yaml", "resources: [night.yaml]\n")
	write("base/night.yaml", strings.Replace(scaler("night", "api"), "Asia/Kolkata", "Asia/Calcutta", 1))
	for _, overlay := range []string{"a", "b"} {
		write(overlay+"/kustomization.yaml", "resources: [../base, hours.yaml]\n")
		write(overlay+"/hours.yaml", scaler("hours", "web"))
	}
	same(t, findings(nil), "base/night.yaml:10 warning warned", "3 checked, 0 of other kinds")
	write("kinds/kustomization.yaml", "resources: [rollouts.yaml]\n")
	write("kinds/rollouts.yaml", rollouts)
	write("a/more.yaml", of("example.com/v2", "Rollout", "web")) // in no kustomization
	same(t, findings(nil), "a/more.yaml:8 error target-kind", "base/night.yaml:10 warning warned", "4 checked, 1 of other kinds")
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "kinds")), os.Remove(filepath.Join(dir, "a/more.yaml"))); err != nil {
		t.Fatal(err)
	}
	before := read()
	write("a/hours.yaml", strings.Replace(scaler("hours", "web"), "kind: Deployment", "kind: deployment", 1))
	same(t, findings(before), "a/hours.yaml:8 error invalid", "3 checked, 0 of other kinds")
	before = read()
	write("b/hours.yaml", scaler("hours", "web", "  pause: true"))
	same(t, findings(before), "a/hours.yaml:8 warning warned", "3 checked, 0 of other kinds")
}
