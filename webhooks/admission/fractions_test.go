package admission

import (
	"encoding/json"
	"testing"
)

// Only fractions become text: whole numbers and text are what the schema expects, and it refuses everything else.
func TestFractionsBecomeText(t *testing.T) {
	for given, want := range map[string]string{
		`{"requests":{"cpu":0.5},"limits":{"cpu":1.50}}`: `[{"op":"add","path":"/spec/resources/requests/cpu","value":"0.5"},{"op":"add","path":"/spec/resources/limits/cpu","value":"1.50"}]`,
		`{"limits":{"example.com/a~b":0.5,"cpu":1e-3}}`:  `[{"op":"add","path":"/spec/resources/limits/cpu","value":"1e-3"},{"op":"add","path":"/spec/resources/limits/example.com~1a~0b","value":"0.5"}]`,
		`{"limits":{"cpu":-0.5}}`:                        `[{"op":"add","path":"/spec/resources/limits/cpu","value":"-0.5"}]`,
		`{"limits":{"cpu":2,"memory":1e9}}`:              `null`,
		`{"limits":{"cpu":"0.5"}}`:                       `null`,
		`{"limits":{"cpu":true,"memory":null}}`:          `null`,
		`{"limits":{"cpu":1e999}}`:                       `null`,
		`{"limits":[0.5]}`:                               `null`,
		`null`:                                           `null`,
	} {
		if got, err := json.Marshal(fractionPatches(json.RawMessage(given))); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", given, got, err, want)
		}
	}
}
