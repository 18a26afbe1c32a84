package timecalc

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestLoadZone(t *testing.T) {
	for _, name := range []string{
		"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "America/Port-au-Prince", "Etc/GMT+5", "US/Eastern",
	} {
		zone, err := LoadZone(name)
		if err != nil || zone.String() != name {
			t.Errorf("LoadZone(%q) = %v, %v", name, zone, err)
		}
	}
}

// A renamed zone is still known under its old name, as the database links the two.
func TestRenamedZones(t *testing.T) {
	for old, name := range map[string]string{
		"Europe/Kiev": "Europe/Kyiv", "Asia/Calcutta": "Asia/Kolkata", "America/Godthab": "America/Nuuk", "US/Pacific": "America/Los_Angeles",
	} {
		was, err := LoadZone(old)
		is, other := LoadZone(name)
		if err != nil || other != nil {
			t.Fatal(err, other)
		}
		for at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2030; at = at.Add(time.Hour) {
			_, before := at.In(was).Zone()
			if _, now := at.In(is).Zone(); now != before {
				t.Fatalf("%s: %s is %d s ahead, %s %d s", at, old, before, name, now)
			}
		}
	}
}

func TestLoadZoneRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"":                       "time zone is empty",
		"Local":                  "depends on the machine",
		"local":                  "depends on the machine",
		"LOCAL":                  "depends on the machine",
		"+02:00":                 "invalid time zone",
		"../etc/passwd":          "invalid time zone",
		"Europe/../UTC":          "invalid time zone",
		"/Europe/Berlin":         "invalid time zone",
		"Europe//Berlin":         "invalid time zone",
		"Europe/":                "invalid time zone",
		"-Europe":                "invalid time zone",
		"Europe/Berlin\x00":      "invalid time zone",
		"Europe/Ber lin":         "invalid time zone",
		"Europe/Fifteen_letters": "invalid time zone",
		"Europe/Atlantis":        `unknown time zone "Europe/Atlantis"`,
		"GMT+2":                  "unknown time zone",
		"Europe":                 "unknown time zone", // a directory, where the machine has one
	} {
		zone, err := LoadZone(name)
		if err == nil {
			t.Errorf("LoadZone(%q) = %v, want an error", name, zone)
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Europe/Berlin") {
			t.Errorf("LoadZone(%q): %q, want %q and an example of what would be right", name, err, want)
		}
	}
}

// TestTZDataVersion compares the generated constant with the version of this toolchain.
func TestTZDataVersion(t *testing.T) {
	release, _, _ := strings.Cut(runtime.Version(), " ")
	if release != tzdataGoRelease {
		t.Logf("built by %s, constant from %s: run go generate ./internal/timecalc", release, tzdataGoRelease)
		if got := TZDataVersion(); got != "unknown" {
			t.Errorf("TZDataVersion() = %q for an unknown toolchain, want unknown", got)
		}
		return
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "update.bash"))
	if err != nil {
		t.Fatal(err)
	}
	if got := TZDataVersion(); !strings.Contains(string(script), "\nDATA="+got+"\n") {
		t.Errorf("TZDataVersion() = %q, which is not the DATA of the toolchain's lib/time/update.bash", got)
	}
}

func TestVersionFor(t *testing.T) {
	for goVersion, want := range map[string]string{
		tzdataGoRelease:                 tzdataRelease,
		tzdataGoRelease + " X:noregabi": tzdataRelease,
		tzdataGoRelease + "1":           "unknown",
		"devel go1.99-abcdef":           "unknown",
	} {
		if got := versionFor(goVersion); got != want {
			t.Errorf("versionFor(%q) = %q, want %q", goVersion, got, want)
		}
	}
}
