package conversion

import (
	"encoding/json"
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
)

// fields are the fields of an object in v1alpha1, with those below them. As it lists what v1alpha1 has rather than
// what it lacks, this release preserves fields of later v1beta1 releases.
type fields map[string]fields

var (
	windowFields = fields{"days": nil, "start": nil, "end": nil, "replicas": nil}
	specFields   = fields{
		"targetRef":          {"apiVersion": nil, "kind": nil, "name": nil, "namespace": nil},
		"timezone":           nil,
		"defaultReplicas":    nil,
		"windows":            windowFields,
		"holidays":           {"mode": nil, "sourceRef": {"name": nil}},
		"gracePeriodSeconds": nil,
		"pause":              nil,
	}
)

// view returns a v1beta1 spec as close as possible in v1alpha1, and valid there, so that a v1alpha1 client can edit
// it. Lists keep their length and order. spec is not changed.
func view(spec map[string]any) map[string]any {
	shown := filter(spec, specFields).(map[string]any)
	baseline := baselineOf(spec)
	showReplicas(shown, "defaultReplicas", baseline)
	windows, _ := shown["windows"].([]any)
	for _, item := range windows {
		if window, ok := item.(map[string]any); ok {
			showReplicas(window, "replicas", baseline)
			showEnd(window)
		}
	}
	return shown
}

// filter returns a copy of value with the known fields only.
func filter(value any, known fields) any {
	if known == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for name, child := range v {
			if below, ok := known[name]; ok {
				kept[name] = filter(child, below)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i := range v {
			kept[i] = filter(v[i], known)
		}
		return kept
	default:
		return value
	}
}

// showReplicas replaces a percentage by its number. One that cannot be computed, which v1beta1 refuses, is shown as a
// number, too: the API server cannot keep managedFields of text where v1alpha1 has a number, and fails all of
// server-side apply.
func showReplicas(object map[string]any, name string, baseline *int32) {
	text, ok := object[name].(string)
	if !ok {
		return
	}
	count, err := schedule.Count(intstr.FromString(text), baseline)
	if err != nil {
		count = unknownCount
	}
	object[name] = json.Number(strconv.Itoa(int(count)))
}

// unknownCount is shown for a percentage of an unknown count. It is not 0, which would stop the workload if somebody
// copied it.
const unknownCount = 1

// showEnd replaces 24:00 by 00:00, which is the same unless it is also the start. v1alpha1 cannot express a whole
// day; 23:59 is one minute short of it.
func showEnd(window map[string]any) {
	if window["end"] != "24:00" {
		return
	}
	window["end"] = "00:00"
	if window["start"] == "00:00" {
		window["end"] = "23:59"
	}
}

func baselineOf(spec map[string]any) *int32 {
	number, ok := spec["baselineReplicas"].(json.Number)
	if !ok {
		return nil
	}
	baseline, err := strconv.ParseInt(number.String(), 10, 32)
	if err != nil {
		return nil
	}
	count := int32(baseline)
	return &count
}

// decodable reports whether the controller's client can decode spec. Any other spec passes unchanged, and is not
// restored from an annotation.
func decodable(spec []byte) bool {
	return utiljson.Unmarshal(spec, &v1beta1.TimeWindowScalerSpec{}) == nil
}

// hiddenFields returns the fields of a v1beta1 spec that its view lacks or shows differently, by path.
func hiddenFields(spec, shown any, path string) map[string]any {
	found := map[string]any{}
	addHidden(found, spec, shown, path)
	return found
}

func addHidden(found map[string]any, spec, shown any, path string) {
	if Same(spec, shown) {
		return
	}
	switch s := spec.(type) {
	case map[string]any:
		if other, ok := shown.(map[string]any); ok {
			for name := range s {
				if below, ok := other[name]; ok {
					addHidden(found, s[name], below, path+"."+name)
				} else {
					found[path+"."+name] = s[name]
				}
			}
			return
		}
	case []any:
		if other, ok := shown.([]any); ok && len(other) == len(s) {
			for i := range s {
				addHidden(found, s[i], other[i], itemPath(path, i))
			}
			return
		}
	}
	found[path] = spec
}
