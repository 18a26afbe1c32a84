package timecalc_test

import (
	"archive/zip"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// toolchainZones reads the zone database that the Go toolchain embeds, whatever the machine has.
var toolchainZones = sync.OnceValues(func() (map[string][]byte, error) {
	root, err := goroot()
	if err != nil {
		return nil, err
	}
	archive, err := zip.OpenReader(filepath.Join(root, "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	zones := make(map[string][]byte)
	for _, file := range archive.File {
		if strings.HasSuffix(file.Name, "/") {
			continue
		}
		reader, err := file.Open()
		if err != nil {
			return nil, err
		}
		if zones[file.Name], err = io.ReadAll(reader); err != nil {
			return nil, err
		}
	}
	return zones, nil
})

func goroot() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(out)), err
}

// allZones returns the content of every zone of the toolchain by name.
func allZones(t testing.TB) map[string][]byte {
	t.Helper()
	zones, err := toolchainZones()
	if err != nil {
		t.Fatalf("read the toolchain's zoneinfo.zip: %v", err)
	}
	return zones
}

// mustZone loads a zone from the toolchain's database.
func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	data, ok := allZones(t)[name]
	if !ok {
		t.Fatalf("the toolchain has no zone %s", name)
	}
	zone, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// stretch is a piece of time in one zone. from and to are Unix seconds on whole minutes.
type stretch struct {
	name     string
	zone     *time.Location
	from, to int64
}

// around returns the stretch of 48 hours on either side of an instant.
func around(name string, zone *time.Location, unix int64) stretch {
	minute := unix - unix%60
	return stretch{name, zone, minute - 48*3600, minute + 48*3600}
}

// changesBetween returns the stretches around every change of offset in the years from first up to and
// including last. It reads the offset each hour, so it needs no knowledge of zone rules.
func changesBetween(zone *time.Location, first, last int) []stretch {
	var found []stretch
	end := time.Date(last+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	unix := time.Date(first, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	_, offset := time.Unix(unix, 0).In(zone).Zone()
	for ; unix < end; unix += 3600 {
		at := time.Unix(unix, 0).In(zone)
		if _, now := at.Zone(); now != offset {
			offset = now
			found = append(found, around(zone.String()+" "+at.Format(time.DateOnly), zone, unix))
		}
	}
	return found
}

// oddities are dates with rare clock changes. A whole date is missing in Apia,
// Kwajalein, Kiritimati and Manila, and one comes twice in Juneau; midnight is missing in Sao Paulo,
// Asuncion and Tehran; Monrovia, Juneau and Amsterdam had offsets with seconds; St. John's changed at
// 00:01, and so fell back to the day before.
var oddities = []struct {
	zone string
	date string
}{
	{"Pacific/Apia", "2011-12-30"},
	{"Pacific/Kwajalein", "1993-08-21"},
	{"Pacific/Kiritimati", "1994-12-31"},
	{"America/Juneau", "1867-10-18"},
	{"Asia/Manila", "1844-12-31"},
	{"America/Sao_Paulo", "2018-11-04"},
	{"America/Asuncion", "2024-10-06"},
	{"Africa/Monrovia", "1972-01-07"},
	{"Europe/Amsterdam", "1937-07-01"},
	{"Asia/Pyongyang", "2015-08-14"},
	{"Asia/Pyongyang", "2018-05-04"},
	{"America/Caracas", "2016-05-01"},
	{"Asia/Tehran", "2022-03-22"},
	{"Asia/Tehran", "2022-09-22"},
	{"America/St_Johns", "1988-04-03"},
	{"America/St_Johns", "1988-10-30"},
	{"America/St_Johns", "2010-03-14"},
	{"America/St_Johns", "2010-11-07"},
}

// oddZones have rules that a naive engine gets wrong, each in its own way, year after year.
var oddZones = []string{
	"Australia/Lord_Howe", "Antarctica/Troll", "Africa/Casablanca", "Europe/Dublin", "Africa/Cairo",
	"Asia/Beirut", "America/Havana", "America/Santiago", "America/Nuuk", "Pacific/Chatham",
	"America/New_York", "Europe/Berlin", "Atlantic/Azores",
}

// oddStretches returns the stretches around all oddities.
func oddStretches(t testing.TB) []stretch {
	t.Helper()
	var all []stretch
	for _, o := range oddities {
		date, err := time.Parse(time.DateOnly, o.date)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, around(o.zone+" "+o.date, mustZone(t, o.zone), date.Unix()))
	}
	return all
}
