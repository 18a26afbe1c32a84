package timecalc

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
	_ "time/tzdata" // zones on machines and in images that carry no zone database (T8)
)

//go:generate go run gen_tzversion.go

// maxZonePart is the longest part between slashes that Kubernetes accepts in a zone name.
const maxZonePart = 14

// LoadZone returns the IANA zone of that name. It refuses what Kubernetes refuses in a CronJob's
// spec.timeZone: the empty name, "Local" in any case, offsets such as "+02:00", path tricks, and
// every name the database does not know. Names are case-sensitive.
//
// The standard library offers no way to read the embedded database alone: time.LoadLocation takes the
// machine's zoneinfo directory, where there is one, before the embedded copy. The project's image
// carries none, so there the zones are those of TZDataVersion; elsewhere they are the machine's.
func LoadZone(name string) (*time.Location, error) {
	if err := checkZoneName(name); err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q: use an IANA name such as Europe/Berlin or UTC", name)
	}
	return zone, nil
}

// checkZoneName applies the rules of the CronJob validation of Kubernetes that do not need a database.
func checkZoneName(name string) error {
	if name == "" {
		return errors.New("time zone is empty: use an IANA name such as Europe/Berlin or UTC")
	}
	if strings.EqualFold(name, "Local") {
		return fmt.Errorf("time zone %q depends on the machine: use an IANA name such as Europe/Berlin or UTC", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if !validZonePart(part) {
			return fmt.Errorf("invalid time zone %q: use an IANA name such as Europe/Berlin or UTC, not an offset or a path", name)
		}
	}
	return nil
}

// validZonePart reports whether part is allowed between the slashes of a zone name.
func validZonePart(part string) bool {
	if part == "" || part == "." || part == ".." || part[0] == '-' || len(part) > maxZonePart {
		return false
	}
	for _, c := range []byte(part) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("._+-", rune(c)) {
			return false
		}
	}
	return true
}

// TZDataVersion is the release of the zone database embedded in this binary, such as "2025c" (T8).
// It is "unknown" when the binary was built by another Go release than the one the version was read
// from (go generate ./internal/timecalc): a guess would be worse.
func TZDataVersion() string {
	return versionFor(runtime.Version())
}

// versionFor returns the embedded release for a binary built by goVersion (runtime.Version's form).
func versionFor(goVersion string) string {
	if release, _, _ := strings.Cut(goVersion, " "); release == tzdataGoRelease {
		return tzdataRelease
	}
	return "unknown"
}
