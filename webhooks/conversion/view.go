package conversion

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
)

// fields are the names that an object of v1alpha1 has, and what lies below them. It is a list of what
// passes and not of what rides, so that fields of a later v1beta1 survive this release.
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

// view shows a v1beta1 spec as well as v1alpha1 can, and as v1alpha1's own rules allow, so that a
// v1alpha1 client can go on editing. Lists keep their length and order. spec is left as it is.
func view(spec map[string]any) map[string]any {
	shown := keep(spec, specFields).(map[string]any)
	baseline := baselineOf(spec)
	showCount(shown, "defaultReplicas", baseline)
	windows, _ := shown["windows"].([]any)
	for _, item := range windows {
		if window, ok := item.(map[string]any); ok {
			showCount(window, "replicas", baseline)
			showEnd(window)
		}
	}
	return shown
}

// keep returns a copy of value without the fields that v1alpha1 does not have.
func keep(value any, known fields) any {
	if known == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for name, child := range v {
			if below, ok := known[name]; ok {
				kept[name] = keep(child, below)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i := range v {
			kept[i] = keep(v[i], known)
		}
		return kept
	default:
		return value
	}
}

// showCount replaces a percentage by the number that it is now. What cannot be computed is refused by
// both versions' rules and stays as it is, so that they see it.
func showCount(object map[string]any, name string, baseline *int32) {
	text, ok := object[name].(string)
	if !ok {
		return
	}
	count, err := schedule.Count(intstr.FromString(text), baseline)
	if err != nil {
		return
	}
	object[name] = json.Number(strconv.Itoa(int(count)))
}

// showEnd replaces 24:00 by 00:00, which means the same where it is not the start as well. A whole day
// cannot be said in v1alpha1; 23:59 is one minute short of it.
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

// readable reports whether the controller's client could decode spec. Nothing else is ever shown
// differently or restored: what cannot be read passes as it is, and no annotation can bring it in.
func readable(spec []byte) bool {
	return utiljson.Unmarshal(spec, &v1beta1.TimeWindowScalerSpec{}) == nil
}

// hidden lists the fields of a v1beta1 spec that its view does not show as they are, as paths below
// path, in the order of names and lists.
func hidden(spec, shown any, path string) (paths []string) {
	if Same(spec, shown) {
		return nil
	}
	switch s := spec.(type) {
	case map[string]any:
		if other, ok := shown.(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(s)) {
				if below, ok := other[name]; ok {
					paths = append(paths, hidden(s[name], below, path+"."+name)...)
				} else {
					paths = append(paths, path+"."+name)
				}
			}
			return paths
		}
	case []any:
		if other, ok := shown.([]any); ok && len(other) == len(s) {
			for i := range s {
				paths = append(paths, hidden(s[i], other[i], path+"["+strconv.Itoa(i)+"]")...)
			}
			return paths
		}
	}
	return []string{path}
}
