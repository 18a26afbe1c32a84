package admission

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

//go:generate go run gen_deprecated_zones.go

// fixedOffset matches the zones named after an offset. Their sign is that of POSIX, the reverse of
// what people and ISO 8601 mean by it.
var fixedOffset = regexp.MustCompile(`^Etc/GMT([+-])([1-9][0-9]?)$`)

// fixedAbbreviations are the zones that are named like a place's winter time and never leave it.
var fixedAbbreviations = map[string]struct{ offset, place string }{
	"EST": {"-05:00", "America/New_York"},
	"MST": {"-07:00", "America/Denver"},
}

// allZoneWarnings says what there is to say about the zones of a spec: what Kyklos makes of those that
// it does not know, though the API server may, and which names probably are not what is meant. A zone
// is told of once, where it is first named.
func allZoneWarnings(spec *v1beta1.TimeWindowScalerSpec, reading *schedule.Reading, path *field.Path) []string {
	warnings := zoneWarnings(spec.Timezone, path.Child("timezone"))
	if reading.ZoneError != nil {
		warnings = append(warnings, fmt.Sprintf("%s: the time zone database of Kyklos has no %s: defaultReplicas apply at all times",
			path.Child("timezone"), shorten(spec.Timezone)))
	}
	told := map[string]bool{"": true, spec.Timezone: true}
	var lines []string
	for i := range spec.Windows {
		zone, at := spec.Windows[i].Timezone, path.Child("windows").Index(i).Child("timezone")
		if told[zone] {
			continue
		}
		told[zone] = true
		lines = append(lines, zoneWarnings(zone, at)...)
		if _, err := timecalc.LoadZone(zone); err != nil {
			lines = append(lines, fmt.Sprintf("%s: the time zone database of Kyklos has no %s: windows of this zone are left out", at, shorten(zone)))
		}
	}
	return append(warnings, capWarnings(lines, len(lines), "%s: %d more time zones have old or doubtful names", path.Child("windows"))...)
}

// zoneWarnings says which zone name probably is not what its author means.
func zoneWarnings(zone string, path *field.Path) []string {
	if current, ok := deprecatedZones[zone]; ok {
		return []string{fmt.Sprintf("%s: %s is an old name that is kept for old programs: use %s", path, zone, current)}
	}
	if fixed, ok := fixedAbbreviations[zone]; ok {
		return []string{fmt.Sprintf("%s: %s is UTC%s all year, without daylight saving time: to follow the clocks of a place, use its zone, such as %s",
			path, zone, fixed.offset, fixed.place)}
	}
	if match := fixedOffset.FindStringSubmatch(zone); match != nil {
		side := map[string]string{"+": "behind", "-": "ahead of"}[match[1]]
		return []string{fmt.Sprintf("%s: %s is %s h %s UTC, all year: in these names the sign is reversed; to follow the clocks of a place, use its zone, such as Europe/Berlin",
			path, zone, match[2], side)}
	}
	return nil
}
