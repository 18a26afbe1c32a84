package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/targetkind"
)

// home is a Workspace as the API server sends it, after the schema's defaults.
const home = `{"apiVersion":"kyklos.io/v1alpha1","kind":"Workspace",
"metadata":{"name":"dev","namespace":"shop","finalizers":["kyklos.io/workspace"]},
"spec":{"desiredState":"RUNNING","pause":false,"image":"ide:1.2","ports":[8080],
"resources":{"requests":{"cpu":"500m","memory":"512Mi"},"limits":{"cpu":"2","memory":"4Gi"}},
"terminationGracePeriodSeconds":30,"storage":{"size":"10Gi","accessMode":"ReadWriteOnce","mountPath":"/home/coder"},
"standbyTTLSeconds":300,"archiveTTLSeconds":86400,"archive":{"storeRef":{"name":"store"},"retain":1},"timeouts":{},"deletionPolicy":"Delete"},
"status":{}}`

// sized is home with other resources.
func sized(resources string) string {
	return strings.Replace(home, `{"requests":{"cpu":"500m","memory":"512Mi"},"limits":{"cpu":"2","memory":"4Gi"}}`, resources, 1)
}

// resourcesAfter returns spec.resources of obj once the defaulting webhook has patched it, and with how
// many operations.
func resourcesAfter(t interface{ Fatal(...any) }, obj string) (string, int) {
	response := defaulter(targetkind.Workspace.GroupKind()).Handler.Handle(context.Background(), request(obj, ""))
	if !response.Allowed {
		t.Fatal(response.Result)
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(obj), &object); err != nil {
		t.Fatal(err)
	}
	for _, patch := range response.Patches {
		steps := strings.Split(patch.Path, "/")[1:]
		place, last := object, len(steps)-1
		for _, step := range steps[:last] {
			place = place[step].(map[string]any)
		}
		if patch.Operation != "add" {
			t.Fatal(patch)
		}
		place[steps[last]] = patch.Value
	}
	resources, err := json.Marshal(object["spec"].(map[string]any)["resources"])
	if err != nil {
		t.Fatal(err)
	}
	return string(resources), len(response.Patches)
}

func TestMissingAmountsAreFilledIn(t *testing.T) {
	for name, tc := range map[string]struct{ given, want string }{
		"all given":              {`{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}`, ""},
		"nothing in it":          {`{}`, `{"limits":{"cpu":"2","memory":"4Gi"},"requests":{"cpu":"500m","memory":"512Mi"}}`},
		"a high limit":           {`{"limits":{"memory":"64Gi"}}`, `{"limits":{"memory":"64Gi"},"requests":{"cpu":"500m","memory":"512Mi"}}`},
		"low limits":             {`{"limits":{"cpu":"250m","memory":"256Mi"}}`, `{"limits":{"cpu":"250m","memory":"256Mi"},"requests":{"cpu":"250m","memory":"256Mi"}}`},
		"no limits meant":        {`{"limits":{}}`, `{"limits":{},"requests":{"cpu":"500m","memory":"512Mi"}}`},
		"low requests":           {`{"requests":{"cpu":"10m"}}`, `{"limits":{"cpu":"2","memory":"4Gi"},"requests":{"cpu":"10m","memory":"512Mi"}}`},
		"high requests":          {`{"requests":{"cpu":8,"memory":"32Gi"}}`, `{"limits":{"cpu":"8","memory":"32Gi"},"requests":{"cpu":8,"memory":"32Gi"}}`},
		"one of each":            {`{"requests":{"memory":"1Gi"},"limits":{"cpu":0.25}}`, `{"limits":{"cpu":"0.25"},"requests":{"cpu":"0.25","memory":"1Gi"}}`},
		"null":                   {`{"requests":null,"limits":{"cpu":"1"}}`, `{"limits":{"cpu":"1"},"requests":{"cpu":"500m","memory":"512Mi"}}`},
		"another resource":       {`{"requests":{"example.com/gpu":1}}`, `{"limits":{"cpu":"2","memory":"4Gi"},"requests":{"cpu":"500m","example.com/gpu":1,"memory":"512Mi"}}`},
		"an amount that is none": {`{"limits":{"cpu":"lots"}}`, ""},
		"an amount of null":      {`{"limits":{"cpu":null}}`, ""},
		"an amount of true":      {`{"limits":{"cpu":true}}`, ""},
		"a list":                 {`[]`, ""},
		"absent":                 {`null`, ""},
	} {
		got, count := resourcesAfter(t, sized(tc.given))
		if tc.want == "" && (count != 0 || got != tc.given) || tc.want != "" && got != tc.want {
			t.Errorf("%s: %s in %d operations, want %s", name, got, count, tc.want)
		}
	}
}

// Whatever is given stays, cpu and memory have a request in the end, no request is above its limit
// unless it was given so, and a second pass finds nothing to do.
func TestDefaultsNeverContradict(t *testing.T) {
	amount := rapid.SampledFrom([]string{"0", "1m", "250m", "500m", "1", "2", "3", "1k", "256Mi", "512Mi", "4Gi", "5Gi", "1e12"})
	list := rapid.MapOf(rapid.SampledFrom([]string{"cpu", "memory", "ephemeral-storage"}), amount)
	rapid.Check(t, func(t *rapid.T) {
		given := map[string]map[string]string{}
		for _, part := range []string{"requests", "limits"} {
			if rapid.Bool().Draw(t, part+" given") {
				given[part] = list.Draw(t, part)
			}
		}
		text, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		after, _ := resourcesAfter(t, sized(string(text)))
		var got map[string]map[string]string
		if err := json.Unmarshal([]byte(after), &got); err != nil {
			t.Fatal(err)
		}
		for part, amounts := range given {
			for name, amount := range amounts {
				if got[part][name] != amount {
					t.Fatalf("%s became %s", text, after)
				}
			}
		}
		if given["limits"] != nil && !cmp.Equal(given["limits"], got["limits"]) {
			t.Fatalf("%s: limits were added: %s", text, after)
		}
		for _, name := range []string{"cpu", "memory"} {
			request, limit := got["requests"][name], got["limits"][name]
			if _, chosen := given["requests"][name]; request == "" || limit != "" && greater(request, limit) && (!chosen || given["limits"] == nil) {
				t.Fatalf("%s: %s of %s", text, name, after)
			}
		}
		if again, count := resourcesAfter(t, sized(after)); count != 0 {
			t.Fatalf("%s becomes %s", after, again)
		}
	})
}

func greater(a, b string) bool {
	first, second := resource.MustParse(a), resource.MustParse(b)
	return first.AsApproximateFloat64() > second.AsApproximateFloat64()
}

// Without the webhook the same amounts stand in for a spec that names none: the schema's.
func TestDefaultsAreTheSchemas(t *testing.T) {
	want := fmt.Sprintf(`requests: {cpu: "%s", memory: "%s"}, limits: {cpu: "%s", memory: "%s"}`,
		defaultRequests["cpu"], defaultRequests["memory"], defaultLimits["cpu"], defaultLimits["memory"])
	if text := source(t, "../../apis/v1alpha1/workspace_pod_types.go"); !strings.Contains(text, "+kubebuilder:default={"+want+"}") {
		t.Errorf("the schema has other defaults than %s", want)
	}
}
