package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// A number is taken as its digits, which are the same quantity; text stays as it was written.
func TestQuantityTakesNumbers(t *testing.T) {
	for text, want := range map[string]v1alpha1.Quantity{
		`"1.50"`: "1.50", `"4Gi"`: "4Gi", `2`: "2", `0.5`: "0.5", `1e3`: "1e3", `9223372036854775807`: "9223372036854775807", `""`: "", `null`: "",
	} {
		var got v1alpha1.Quantity
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{`true`, `{}`, `["1"]`} {
		var got v1alpha1.Quantity
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s became %q", text, got)
		}
	}
}
