package source

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/internal/schedule"
)

// Holidays are the keys of the ConfigMap of a schedule's holidays.
type Holidays struct {
	// Keys should be dates.
	Keys []string
	// Missing: there is no such ConfigMap. Unread is why the user may not read it, "" otherwise.
	Missing bool
	Unread  string
}

// HolidayDates reads dates from a file: the keys of its ConfigMaps, or a text with a date at the start of each line. Empty
// lines and those that begin with # are ignored. The result is not nil.
func HolidayDates(file *manifest.File) ([]string, error) {
	objects, _ := manifest.Parse(file)
	dates, found := []string{}, false
	for _, object := range objects {
		if keys, ok := configMapKeys(object); ok {
			dates, found = append(dates, keys...), true
		}
	}
	if found {
		return dates, nil
	}
	if i := slices.IndexFunc(objects, isConfigMap); i >= 0 {
		return nil, fmt.Errorf("%s:%d: ConfigMap %s is invalid: each value of data must be a string, and of binaryData base64; quote values that YAML reads as numbers or booleans",
			file.Name, objects[i].Line, objects[i].Key("").Name)
	}
	number := 0
	for line := range strings.Lines(string(file.Data)) {
		number++
		fields := strings.Fields(strings.TrimPrefix(line, "\uFEFF"))
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if _, err := time.Parse(time.DateOnly, fields[0]); err != nil {
			return nil, fmt.Errorf("%s:%d: %q is not a date: give a ConfigMap, or a text file with a date such as 2026-12-25 on each line", file.Name, number, fields[0])
		}
		dates = append(dates, fields[0])
	}
	return dates, nil
}

// configMapKeys are the keys of a ConfigMap; ok is false for other objects, and for one that the API server would refuse.
func configMapKeys(object *manifest.Object) (keys []string, ok bool) {
	var configMap corev1.ConfigMap
	if !isConfigMap(object) || runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &configMap) != nil {
		return nil, false
	}
	return schedule.HolidayKeys(&configMap), true
}

func isConfigMap(object *manifest.Object) bool {
	return object.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("ConfigMap")
}
