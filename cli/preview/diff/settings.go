package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/timecalc"
)

// Setting is a field of the spec, or several that belong together, that differs.
type Setting struct {
	Field         string
	Before, After string
}

// settings are differences of two specs that transitions do not show. Windows, counts and the baseline are left out: transitions
// show their effect.
func settings(before, after *v1beta1.TimeWindowScalerSpec) (differ []Setting) {
	compare := func(field string, read func(*v1beta1.TimeWindowScalerSpec) string) {
		if was, is := read(before), read(after); was != is {
			differ = append(differ, Setting{field, was, is})
		}
	}
	compare("targetRef", target)
	compare("timezone", func(s *v1beta1.TimeWindowScalerSpec) string { return s.Timezone })
	compare("pause", func(s *v1beta1.TimeWindowScalerSpec) string { return strconv.FormatBool(s.Pause) })
	compare("gracePeriodSeconds", func(s *v1beta1.TimeWindowScalerSpec) string { return strconv.Itoa(int(s.GracePeriodSeconds)) })
	compare("deletionPolicy", func(s *v1beta1.TimeWindowScalerSpec) string {
		return string(cmp.Or(s.DeletionPolicy, v1beta1.DeletionRetain))
	})
	compare("driftPolicy", func(s *v1beta1.TimeWindowScalerSpec) string { return string(schedule.DriftPolicy(s)) })
	compare("holidays", holidayRule)
	compare("workspace", func(s *v1beta1.TimeWindowScalerSpec) string {
		if s.Workspace == nil {
			return "none"
		}
		return fmt.Sprintf("keepArchived %t, keepArchivedAfterDays %d, stopWhileInUse %t",
			s.Workspace.KeepArchived, schedule.ArchivedDays(s.Workspace), s.Workspace.StopWhileInUse)
	})
	return append(differ, metrics(before, after)...)
}

// target has the apiVersion even if the spec relies on its default.
func target(s *v1beta1.TimeWindowScalerSpec) string {
	apiVersion, kind := targetkind.Of(s.TargetRef).ToAPIVersionAndKind()
	return apiVersion + " " + kind + " " + s.TargetRef.Name
}

func holidayRule(s *v1beta1.TimeWindowScalerSpec) string {
	source := schedule.HolidaySource(s)
	if source == "" {
		return timecalc.HolidayIgnore
	}
	return fmt.Sprintf("%s, ConfigMap %s", s.Holidays.Mode, source)
}

// metrics are the metrics that differ, by window.
func metrics(before, after *v1beta1.TimeWindowScalerSpec) (differ []Setting) {
	was, is := metricsOf(before), metricsOf(after)
	windows := maps.Clone(was)
	maps.Copy(windows, is)
	for _, window := range slices.Sorted(maps.Keys(windows)) {
		if before, after := metricText(was[window]), metricText(is[window]); before != after {
			differ = append(differ, Setting{"metric of window " + window, before, after})
		}
	}
	return differ
}

// metricsOf has the metrics by the names of their windows, or their numbers from 1.
func metricsOf(s *v1beta1.TimeWindowScalerSpec) map[string]*v1beta1.WindowMetric {
	all := make(map[string]*v1beta1.WindowMetric)
	for i := range s.Windows {
		if w := &s.Windows[i]; w.Metric != nil {
			name := w.Name
			if name == "" {
				name = strconv.Itoa(i + 1)
			}
			all[name] = w.Metric
		}
	}
	return all
}

// metricText is a metric in one line. An invalid selector is left out: lint reports it.
func metricText(m *v1beta1.WindowMetric) string {
	if m == nil {
		return "none"
	}
	lowest, highest := schedule.MetricBounds(m)
	text := fmt.Sprintf("%s, %s %s%s, %d to %d replicas", m.Name, m.Target.Type, m.Target.Value, m.Target.AverageValue, lowest, highest)
	if selector, err := schedule.Selector(m.Selector); err == nil && !selector.Empty() {
		text += ", of " + selector.String()
	}
	return text
}

// holidays are the dates, from the start of the timelines, that are listed on one side only.
func holidays(before, after *timeline.Timeline) (added, removed []string) {
	was, is := dates(before), dates(after)
	for date := range is {
		if !was[date] {
			added = append(added, date)
		}
	}
	for date := range was {
		if !is[date] {
			removed = append(removed, date)
		}
	}
	slices.Sort(added)
	slices.Sort(removed)
	return added, removed
}

// dates are the listed dates from the start of the timeline; removing past ones is not a change.
func dates(t *timeline.Timeline) map[string]bool {
	listed := make(map[string]bool)
	first := t.From.Format(time.DateOnly)
	for date := range t.Scaler.Calendar.Holidays {
		if date >= first && schedule.HolidaySource(t.Scaler.Spec) != "" {
			listed[date] = true
		}
	}
	return listed
}
