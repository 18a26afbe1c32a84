package source_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/cli/source"
)

// At most three places of a duplicate are listed.
func TestRemarksAreShort(t *testing.T) {
	scalers, _ := source.FromManifests(set(t, documents(daysOff, daysOff, daysOff, daysOff, daysOff, closing)), "here", nil)
	want := []string{"ConfigMap stores/days-off is defined 5 times, at -:4, -:11, -:18 and 2 more places: the one applied last counts"}
	if diff := cmp.Diff(want, scalers[0].Remarks); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Duplicates may have different versions, but not different kinds.
func TestRemarks(t *testing.T) {
	older := strings.Replace(old, "name: old", "name: closing, namespace: stores", 1)
	other := strings.Replace(daysOff, "kind: ConfigMap", "kind: Secret", 1)
	scalers, problems := source.FromManifests(set(t, documents(closing, daysOff, older, other, daysOff, old)), "here", nil)
	if len(problems) > 0 || len(scalers) != 3 {
		t.Fatal(scalers, problems)
	}
	scaler := "TimeWindowScaler stores/closing is defined 2 times, at -:4 and -:23: the one applied last counts"
	configMap := "ConfigMap stores/days-off is defined 2 times, at -:16 and -:41: the one applied last counts"
	for i, want := range [][]string{{scaler, configMap}, {scaler}, nil} {
		if diff := cmp.Diff(want, scalers[i].Remarks); diff != "" {
			t.Errorf("%s (-want +got)\n%s", scalers[i].Key(), diff)
		}
	}
}

// Each of two overlays has holidays of its own, and nothing is there twice.
func TestHolidaysOfOverlays(t *testing.T) {
	dir := t.TempDir()
	for overlay, date := range map[string]string{"a": "2026-12-24", "b": "2026-12-31"} {
		folder := filepath.Join(dir, overlay)
		text := documents(closing, strings.Replace(daysOff, "2026-12-25", date, 1))
		if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(filepath.Join(folder, "all.yaml"), []byte(text), 0o600),
			os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte("resources: [all.yaml]\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := manifest.Read([]string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	scalers, problems := source.FromManifests(files, "here", nil)
	if len(problems) > 0 || len(scalers) != 2 {
		t.Fatal(scalers, problems)
	}
	for i, want := range [][]string{{"2026-12-24", "2026-12-26"}, {"2026-12-26", "2026-12-31"}} {
		if diff := cmp.Diff(want, dates(scalers[i])); diff != "" || len(scalers[i].Remarks) > 0 {
			t.Errorf("%s: %q (-want +got)\n%s", scalers[i].Source.File.Name, scalers[i].Remarks, diff)
		}
	}
}
