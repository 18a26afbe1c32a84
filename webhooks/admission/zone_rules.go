package admission

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"
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
