package gitops

import (
	"path/filepath"
	"testing"

	"kyklos.io/kyklos/apis/v1beta1"
	"sigs.k8s.io/yaml"
)

// act runs an action and returns what it makes of the object.
func act(t *testing.T, action string, object map[string]any) map[string]any {
	t.Helper()
	return runScript(t, filepath.Join(scripts, "actions", action, "action.lua"), object).(map[string]any)
}

// The cases that Argo CD's own tests would run.
func TestActionsOnTheTestData(t *testing.T) {
	var suite struct {
		DiscoveryTests []struct {
			InputPath string `json:"inputPath"`
			Result    []struct {
				Name     string `json:"name"`
				Disabled bool   `json:"disabled"`
			} `json:"result"`
		} `json:"discoveryTests"`
		ActionTests []struct {
			Action             string `json:"action"`
			InputPath          string `json:"inputPath"`
			ExpectedOutputPath string `json:"expectedOutputPath"`
		} `json:"actionTests"`
	}
	readYAML(t, "actions/action_test.yaml", &suite)
	if len(suite.DiscoveryTests) == 0 || len(suite.ActionTests) == 0 {
		t.Fatal("there are no tests")
	}
	for _, test := range suite.DiscoveryTests {
		t.Run("discovery/"+filepath.Base(test.InputPath), func(t *testing.T) {
			want := map[string]any{}
			for _, action := range test.Result {
				want[action.Name] = map[string]any{"disabled": action.Disabled}
			}
			same(t, runScript(t, filepath.Join(scripts, "actions", "discovery.lua"), input(t, test.InputPath)), any(want))
		})
	}
	for _, test := range suite.ActionTests {
		t.Run(test.Action, func(t *testing.T) {
			same(t, act(t, test.Action, input(t, test.InputPath)), input(t, test.ExpectedOutputPath))
		})
	}
}

// An object of the test data has no field that a TimeWindowScaler does not have.
func input(t *testing.T, path string) (object map[string]any) {
	t.Helper()
	readYAML(t, filepath.Join("actions", path), &v1beta1.TimeWindowScaler{})
	readYAML(t, filepath.Join("actions", path), &object)
	return object
}

// toJSON makes an object what a decoder of JSON makes of it: Lua has one kind of number.
func toJSON(t *testing.T, object map[string]any) (decoded map[string]any) {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err == nil {
		err = yaml.Unmarshal(text, &decoded)
	}
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}
