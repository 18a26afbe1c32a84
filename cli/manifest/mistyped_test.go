package manifest_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/manifest"
)

// Of several windows the one is named that is wrong.
func TestMistyped(t *testing.T) {
	const fine = `{"days": ["Mon"], "start": "09:00", "replicas": 1}`
	for spec, want := range map[string]string{
		`{"timezone": 1}`: "timezone",
		`{"windows": [` + fine + `, {"start": 900}]}`:                                  "windows[1].start",
		`{"windows": [` + fine + `, {"days": "Mon"}]}`:                                 "windows[1].days",
		`{"windows": [` + fine + `, {"days": ["Mon", 2]}]}`:                            "windows[1].days[1]",
		`{"windows": [` + fine + `, {"replicas": 5.5}, {"replicas": 6.5}]}`:            "windows[1].replicas",
		`{"windows": [` + fine + `, []]}`:                                              "windows[1]",
		`{"windows": {"start": "09:00"}}`:                                              "windows",
		`{"windows": [{"metric": {"selector": {"matchLabels": {"a": "b", "c": 1}}}}]}`: "windows[0].metric.selector.matchLabels[c]",
	} {
		var content any
		err := json.Unmarshal([]byte(spec), &content)
		if err == nil {
			err = json.Unmarshal([]byte(spec), &v1beta1.TimeWindowScalerSpec{})
		}
		wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
		if !ok {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		if path, _, found := manifest.Mistyped(content, reflect.TypeFor[v1beta1.TimeWindowScalerSpec](), wrong); path != want || !found {
			t.Errorf("%s: at %q, found %v; want %s (Go says %v)", spec, path, found, want, err)
		}
	}
	if path, _, found := manifest.Mistyped(nil, reflect.TypeFor[v1beta1.TimeWindowScaler](), &json.UnmarshalTypeError{Field: "spec.pause", Value: "string"}); path != "spec.pause" || found {
		t.Errorf("without content: %q, %v", path, found)
	}
}
