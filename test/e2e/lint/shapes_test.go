package lint_test

import (
	"strings"
	"testing"

	"kyklos.io/kyklos/cli/manifest"
)

// Lint reads an object if and only if kubectl does.
func TestShapesAreKubectls(t *testing.T) {
	trials(t) // the definitions are installed
	flow := `{apiVersion: kyklos.io/v1beta1, kind: TimeWindowScaler, metadata: {name: plain}, spec: {timezone: UTC, defaultReplicas: 0, ` +
		`targetRef: {kind: Deployment, name: web}, windows: [{days: [Mon], start: "09:00", end: "17:00", replicas: 3}]}}`
	untyped := strings.Replace(flow, "apiVersion: kyklos.io/v1beta1, kind: TimeWindowScaler, ", "", 1)
	for name, text := range map[string]string{
		"an object":                    plain,
		"a comment behind a separator": "--- # next\n" + plain,
		"no kind":                      strings.Replace(plain, "kind: TimeWindowScaler\n", "", 1),
		"another case":                 strings.Replace(plain, "kind: Time", "Kind: Time", 1),
		"no apiVersion":                strings.Replace(plain, "apiVersion: kyklos.io/v1beta1\n", "", 1),
		"no version":                   strings.Replace(plain, "/v1beta1", "", 1),
		"text behind a separator":      "--- " + flow,
		"a sequence":                   "[" + flow + "]",
		"a list":                       "{apiVersion: v1, kind: List, items: [" + flow + "]}",
		"a list of nothing typed":      "{apiVersion: v1, kind: List, items: [" + untyped + "]}",
		"a list of one kind":           "{apiVersion: kyklos.io/v1beta1, kind: TimeWindowScalerList, items: [" + untyped + "]}",
		"a list in a list":             "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List, items: [" + flow + "]}]}",
		"a list of a text":             "{apiVersion: v1, kind: List, items: [a]}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, problems := manifest.Parse(&manifest.File{Name: "a.yaml", Data: []byte(text)})
			_, stderr, err := cluster.Kubectl(t.Context(), text, "create", "--dry-run=server", "--validate=strict", "-n", namespace, "-f", "-")
			if (err == nil) != (len(problems) == 0) || err == nil && len(objects) != 1 {
				t.Errorf("%d objects, problems %v; kubectl: %v %s", len(objects), problems, err, stderr)
			}
		})
	}
}
