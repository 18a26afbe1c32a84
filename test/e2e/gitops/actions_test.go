package gitops

import (
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

// act runs an action of TimeWindowScalers and returns the changed object.
func act(t testing.TB, action string, object map[string]any) map[string]any {
	t.Helper()
	return runScript(t, filepath.Join(scripts, "actions", action, "action.lua"), object).(map[string]any)
}

// These cases run as in Argo CD's own tests.
func TestActionsOnTheTestData(t *testing.T) {
	t.Run("TimeWindowScaler", func(t *testing.T) {
		actionsOnTheTestData(t, filepath.Join(scripts, "actions"), func() any { return &v1beta1.TimeWindowScaler{} })
	})
	t.Run("Workspace", func(t *testing.T) {
		actionsOnTheTestData(t, filepath.Join(workspaceScripts, "actions"), func() any { return &v1alpha1.Workspace{} })
	})
}

func actionsOnTheTestData(t *testing.T, folder string, empty func() any) {
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
	readYAML(t, filepath.Join(folder, "action_test.yaml"), &suite)
	if len(suite.DiscoveryTests) == 0 || len(suite.ActionTests) == 0 {
		t.Fatal("there are no tests")
	}
	for _, test := range suite.DiscoveryTests {
		t.Run("discovery/"+filepath.Base(test.InputPath), func(t *testing.T) {
			want := map[string]any{}
			for _, action := range test.Result {
				want[action.Name] = map[string]any{"disabled": action.Disabled}
			}
			same(t, runScript(t, filepath.Join(folder, "discovery.lua"), inputOf(t, filepath.Join(folder, test.InputPath), empty())), any(want))
		})
	}
	for _, test := range suite.ActionTests {
		t.Run(test.Action, func(t *testing.T) {
			acted := runScript(t, filepath.Join(folder, test.Action, "action.lua"), inputOf(t, filepath.Join(folder, test.InputPath), empty()))
			same(t, acted, any(inputOf(t, filepath.Join(folder, test.ExpectedOutputPath), empty())))
		})
	}
}

// inputOf reads an object of the test data strictly into empty, which is its Go type.
func inputOf(t *testing.T, path string, empty any) (object map[string]any) {
	t.Helper()
	readYAML(t, path, empty)
	readYAML(t, path, &object)
	return object
}

// toJSON converts an object as a JSON decoder does: Lua has one kind of number.
func toJSON(t testing.TB, object map[string]any) (decoded map[string]any) {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err == nil {
		err = yaml.Unmarshal(text, &decoded)
	}
	harness.Must(t, err)
	return decoded
}
