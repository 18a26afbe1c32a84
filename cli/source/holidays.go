package source

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kyklos.io/kyklos/cli/manifest"
)

// Holidays are what is known of the ConfigMap of a schedule's holidays.
type Holidays struct {
	// Keys are dates, and what else is there in their place.
	Keys []string
	// Missing says that there is no such ConfigMap, and Unread why whoever asks may not read it; "" if they may.
	Missing bool
	Unread  string
}

// HolidayDates reads dates out of a file: the keys of its ConfigMaps, or of a text one date, YYYY-MM-DD, at the beginning of each
// line. Empty lines and those that begin with # say nothing. The result is not nil.
func HolidayDates(file *manifest.File) ([]string, error) {
	objects, _ := manifest.Parse(file)
	if dates, found := configMapDates(objects); found {
		return dates, nil
	}
	for _, object := range objects {
		if isConfigMap(object) {
			return nil, fmt.Errorf("%s:%d: ConfigMap %s cannot be read: each value of data must be text, in quotes where YAML takes it for a number or for true or false",
				file.Name, object.Line, object.Key("").Name)
		}
	}
	dates, number := []string{}, 0
	for line := range strings.Lines(string(file.Data)) {
		number++
		words := strings.Fields(strings.TrimPrefix(line, "\uFEFF"))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if _, err := time.Parse(time.DateOnly, words[0]); err != nil {
			return nil, fmt.Errorf("%s:%d: %q is no date: give a ConfigMap, or a text with one date such as 2026-12-25 on each line", file.Name, number, words[0])
		}
		dates = append(dates, words[0])
	}
	return dates, nil
}

// configMapDates are the keys of all ConfigMaps; found is false without any.
func configMapDates(objects []*manifest.Object) (dates []string, found bool) {
	dates = []string{}
	for _, object := range objects {
		if keys, ok := configMapKeys(object); ok {
			dates = append(dates, keys...)
			found = true
		}
	}
	return dates, found
}

// configMapKeys are the keys of a ConfigMap; ok is false for what is none.
func configMapKeys(object *manifest.Object) (keys []string, ok bool) {
	var source corev1.ConfigMap
	if !isConfigMap(object) ||
		runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &source) != nil {
		return nil, false // one that cannot be read, the API server refuses in better words
	}
	for key := range source.Data {
		keys = append(keys, key)
	}
	return keys, true
}

func isConfigMap(object *manifest.Object) bool {
	return object.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("ConfigMap")
}
