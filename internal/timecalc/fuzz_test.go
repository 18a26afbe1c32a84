package timecalc_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// startPattern is that of R1, which the parser implements by hand; endPattern adds 24:00 (A6).
var (
	startPattern = regexp.MustCompile(`^([0-1][0-9]|2[0-3]):[0-5][0-9]$`)
	endPattern   = regexp.MustCompile(`^(([0-1][0-9]|2[0-3]):[0-5][0-9]|24:00)$`)
)

func FuzzParseWindow(f *testing.F) {
	f.Add("Mon,Tue", "09:00", "17:00", int32(3))
	f.Add("Fri", "22:00", "02:30", int32(0))
	f.Add("Sat,Sat", "23:59", "00:00", int32(1<<31-1))
	f.Add("", "24:00", "9:00", int32(-1))
	f.Add("Sat,Sun", "00:00", "24:00", int32(2))
	f.Add("Sat,Sun", "24:00", "24:00", int32(2))
	f.Add("Mon,,Sun", "09:00", "09:00", int32(1))
	f.Add("mon", "09:00\n", "０９:00", int32(1))
	f.Fuzz(func(t *testing.T, list, start, end string, replicas int32) {
		days := strings.Split(list, ",")
		valid := startPattern.MatchString(start) && endPattern.MatchString(end) && start != end && replicas >= 0
		for _, day := range days {
			valid = valid && slices.Contains(weekdays, day)
		}
		w, err := timecalc.ParseWindow(days, start, end, replicas)
		if (err == nil) != valid {
			t.Fatalf("ParseWindow(%q, %q, %q, %d): %v, want valid: %t", days, start, end, replicas, err, valid)
		}
		if err != nil {
			for _, e := range fieldErrors(err) {
				if e.Field == "" || e.Detail == "" {
					t.Errorf("error without a field or a detail: %v", err)
				}
			}
			return
		}
		if w.Start() != start || w.End() != end || w.Replicas() != replicas || w.CrossesMidnight() != (end < start) {
			t.Errorf("%v does not read back as %s-%s with %d", w, start, end, replicas)
		}
		if again, err := timecalc.ParseWindow(w.Days(), w.Start(), w.End(), w.Replicas()); err != nil || again != w {
			t.Errorf("%v parsed again is %v, %v", w, again, err)
		}
	})
}

func FuzzLoadZone(f *testing.F) {
	for _, name := range []string{
		"", "UTC", "Local", "lOCAL", "Europe/Berlin", "../UTC", "/UTC", "+02:00", "Etc/GMT+5", "-x", "Europe//Berlin", "a\x00b",
	} {
		f.Add(name)
	}
	part := regexp.MustCompile(`^[A-Za-z._0-9+-]{1,14}$`)
	f.Fuzz(func(t *testing.T, name string) {
		zone, err := timecalc.LoadZone(name)
		if err != nil {
			return
		}
		if zone.String() != name || strings.EqualFold(name, "local") {
			t.Errorf("LoadZone(%q) = %v", name, zone)
		}
		for p := range strings.SplitSeq(name, "/") {
			if !part.MatchString(p) || p == "." || p == ".." || p[0] == '-' {
				t.Errorf("LoadZone(%q) accepts the part %q", name, p)
			}
		}
	})
}

func FuzzParseHolidayDates(f *testing.F) {
	for _, key := range []string{"2026-12-25", "2028-02-29", "2100-02-29", "2026-04-31", "0000-01-01", "2026-1-1", "", "２０２６-12-25"} {
		f.Add(key)
	}
	pattern := regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	f.Fuzz(func(t *testing.T, key string) {
		valid := false
		if pattern.MatchString(key) {
			number := func(s string) int { return int(s[0]-'0')*10 + int(s[1]-'0') }
			year, month, day := number(key)*100+number(key[2:]), number(key[5:]), number(key[8:])
			lengths := []int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
			if year%4 == 0 && year%100 != 0 || year%400 == 0 {
				lengths[2] = 29
			}
			valid = 1 <= month && month <= 12 && 1 <= day && day <= lengths[month]
		}
		dates, invalid := timecalc.ParseHolidayDates([]string{key})
		if dates[key] != valid || len(dates)+len(invalid) != 1 {
			t.Errorf("%q: dates %v, invalid %q; want valid: %t", key, dates, invalid, valid)
		}
	})
}

// FuzzInstants asks about any instant of the years 1 to 9999 in any two zones: the replicas are those
// the clocks on the wall call for, the next boundary is later, not too late, and nothing changes before it.
func FuzzInstants(f *testing.F) {
	f.Add(int64(1774746000), int64(0), uint16(300), uint16(40), uint16(150), uint16(270), byte(127)) // Berlin's gap of 2026
	f.Add(int64(-3225223728), int64(1), uint16(20), uint16(0), uint16(1320), uint16(150), byte(1))   // an offset with seconds
	f.Add(int64(253402300799), int64(999999999), uint16(77), uint16(0), uint16(0), uint16(1439), byte(64))
	f.Add(int64(-62135596800), int64(0), uint16(10), uint16(0), uint16(1439), uint16(0), byte(8))
	f.Add(int64(4102444800), int64(5), uint16(200), uint16(0), uint16(60), uint16(120), byte(31)) // beyond the tables
	zones := allZones(f)
	names := make([]string, 0, len(zones))
	for name := range zones {
		names = append(names, name)
	}
	slices.Sort(names)
	f.Fuzz(func(t *testing.T, unix, nano int64, zoneIndex, abroadIndex, start, end uint16, days byte) {
		const firstYear, lastYear = -62135596800, 253402300799
		unix = firstYear + int64(uint64(unix-firstYear)%(lastYear-firstYear+1))
		home, abroad := mustZone(t, names[int(zoneIndex)%len(names)]), mustZone(t, names[int(abroadIndex)%len(names)])
		set := newSchedule(fuzzWindows(int(start), int(end), days)).in(nil, abroad, abroad)
		now := time.Unix(unix, int64(uint64(nano)%1e9)).In(home)
		covering := func(at time.Time) uint64 {
			return set.coveringAt(readClock(at), readClock(at.In(abroad)))
		}
		if got, want := timecalc.ComputeEffectiveReplicas(set.windows, 0, now), set.replicas(covering(now)); got != want {
			t.Errorf("%v %v: %d replicas, want %d", set.windows, now, got, want)
		}
		next := timecalc.ComputeNextBoundary(set.windows, now)
		if !next.After(now) || next.Sub(now) > 24*time.Hour || next.Location() != now.Location() {
			t.Errorf("%v: next boundary after %v is %v", set.windows, now, next)
		}
		for at := now; at.Before(next); at = at.Add(time.Minute) {
			if covering(at) != covering(now) {
				t.Fatalf("%v: from %v to %v something changes, at %v", set.windows, now, next, at)
			}
		}
		if covering(next.Add(-1)) != covering(now) {
			t.Errorf("%v: from %v to %v something changes in the last minute", set.windows, now, next)
		}
	})
}

// fuzzWindows makes overlapping windows of any numbers, the last of them whole days.
func fuzzWindows(start, end int, days byte) []spec {
	start, end = start%(24*60), end%(24*60)
	if start == end {
		end = (end + 1) % (24 * 60)
	}
	var names []string
	for i, name := range weekdays {
		if days&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		names = weekdays
	}
	return []spec{{names, clockFaces[start], clockFaces[end], 1}, {weekdays[:5], clockFaces[end], clockFaces[start], 2}, {names, "00:00", "24:00", 3}}
}
