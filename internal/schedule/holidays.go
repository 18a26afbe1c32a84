package schedule

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// HolidayKeys are the keys of a holiday ConfigMap, sorted (R4). Those of binaryData count: kubectl puts values there that are
// not UTF-8.
func HolidayKeys(source *corev1.ConfigMap) []string {
	keys := slices.AppendSeq(make([]string, 0, len(source.Data)+len(source.BinaryData)), maps.Keys(source.Data))
	keys = slices.AppendSeq(keys, maps.Keys(source.BinaryData))
	slices.Sort(keys)
	return slices.Compact(keys)
}
