package admission

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

//go:generate go run gen_deprecated_zones.go

// fixedOffset matches zones named after an offset. Their sign is that of POSIX, the reverse of ISO 8601.
var fixedOffset = regexp.MustCompile(`^Etc/GMT([+-])([1-9][0-9]?)$`)

// fixedAbbreviations are zones named after a place's winter time that never change their offset.
var fixedAbbreviations = map[string]struct{ offset, place string }{
	"EST": {"-05:00", "America/New_York"},
	"MST": {"-07:00", "America/Denver"},
}

// checkTimezones warns about zones that Kyklos does not know although the API server may, and about names
// that are probably not what is meant. Each zone is reported once, at its first occurrence.
func (all *Findings) checkTimezones(spec *v1beta1.TimeWindowScalerSpec, reading *schedule.Reading, path *field.Path) {
	all.checkTimezoneName(spec.Timezone, path.Child("timezone"))
	if reading.ZoneError != nil {
		all.warn(TimezoneUnknown, path.Child("timezone"), "the time zone database of Kyklos does not contain %s: defaultReplicas apply at all times", shorten(spec.Timezone))
	}
	seen := map[string]bool{"": true, spec.Timezone: true}
	var listed Findings
	for i := range spec.Windows {
		zone, at := spec.Windows[i].Timezone, path.Child("windows").Index(i).Child("timezone")
		if seen[zone] {
			continue
		}
		seen[zone] = true
		listed.checkTimezoneName(zone, at)
		if _, err := timecalc.LoadZone(zone); err != nil {
			listed.warn(TimezoneUnknown, at, "the time zone database of Kyklos does not contain %s: windows in this time zone are ignored", shorten(zone))
		}
	}
	all.warnListed(listed, len(listed), path.Child("windows"), "time zones are unknown, deprecated or misleading")
}

// checkTimezoneName warns about a name that is deprecated or probably not what is meant.
func (all *Findings) checkTimezoneName(zone string, path *field.Path) {
	if current, ok := deprecatedZones[zone]; ok {
		all.warn(TimezoneName, path, "%s is a deprecated name: use %s", zone, current)
	} else if fixed, ok := fixedAbbreviations[zone]; ok {
		all.warn(TimezoneName, path, "%s is UTC%s all year, without daylight saving time: to follow local clocks, use the zone of a place, such as %s",
			zone, fixed.offset, fixed.place)
	} else if match := fixedOffset.FindStringSubmatch(zone); match != nil {
		side := map[string]string{"+": "behind", "-": "ahead of"}[match[1]]
		all.warn(TimezoneName, path, "%s is %s h %s UTC all year: the sign in these names is reversed; to follow local clocks, use the zone of a place, such as Europe/Berlin",
			zone, match[2], side)
	}
}
