package timeline

import (
	"fmt"
	"strings"
	"time"
)

// Span is a length of time, 0 or more, in words: 45 min, 1 h 30 min, 3 d 4 h.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	parts := []struct {
		unit time.Duration
		name string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	if d < 2*day {
		parts = parts[1:] // 26 h is easier than a day and two
	}
	var words []string
	for _, part := range parts {
		if count := d / part.unit; count > 0 && len(words) < 2 {
			words = append(words, fmt.Sprintf("%d %s", count, part.name))
			d -= count * part.unit
		} else if len(words) > 0 {
			break
		}
	}
	if len(words) == 0 {
		return "0 s"
	}
	return strings.Join(words, " ")
}
