package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/webhooks/conversion"
)

// forge returns a v1alpha1 object that is valid itself, with an annotation of anybody's making.
func forge(t *testing.T, namespace, payload string) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, plain)
	object.SetNamespace(namespace)
	object.SetAnnotations(map[string]string{conversion.Annotation: payload})
	return object
}

// forgeries are annotations that v1alpha1 does not see through, with a spec that v1beta1 refuses.
func forgeries() map[string]string {
	const base = `{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"plain"},"timezone":"Europe/Berlin","defaultReplicas":1,"holidays":{"mode":"ignore"},"windows":[{"days":["Mon","Tue"],"start":"09:00","end":"17:00","replicas":5}]}`
	window := func(fields string) string {
		return strings.Replace(base, `"replicas":5}`, `"replicas":5,`+fields+`}`, 1)
	}
	metric := func(fields string) string {
		return window(`"metric":{"name":"queue","maxReplicas":9,"target":{"type":"Value","value":"1"}` + fields + `}`)
	}
	labels := []string{}
	for i := range 50 {
		labels = append(labels, fmt.Sprintf(`"l%d":"x"`, i))
	}
	thirty := []string{}
	for i := range 30 {
		thirty = append(thirty, fmt.Sprintf(`{"days":["Mon"],"start":"09:%02d","end":"17:00","replicas":5,"metric":{"name":"queue","maxReplicas":9,"target":{"type":"Value","value":"1"}}}`, i))
	}
	const windows = `"windows":[{"days":["Mon","Tue"],"start":"09:00","end":"17:00","replicas":5}]`
	return map[string]string{
		"a name of 200 characters":     window(`"name":"` + strings.Repeat("a", 200) + `"`),
		"a control character":          window(`"name":"a\u0007b"`),
		"a reserved name":              window(`"name":"OffHours"`),
		"a metric of no name":          metric(`,"name":""`),
		"a metric like a path":         metric(`,"name":"../../secrets"`),
		"a negative metric":            metric(`,"minReplicas":-5`),
		"no most replicas":             metric(`,"maxReplicas":0`),
		"a target of nothing":          metric(`,"target":{"type":"Value","value":"0"}`),
		"fifty labels":                 metric(`,"selector":{"matchLabels":{` + strings.Join(labels, ",") + `}}`),
		"the zone Factory":             window(`"timezone":"Factory"`),
		"the zone Local":               window(`"timezone":"Local"`),
		"a zone of posix":              window(`"timezone":"posix/Europe/Berlin"`),
		"a percentage with zeros":      strings.Replace(strings.Replace(base, `"defaultReplicas":1`, `"defaultReplicas":"0050%"`, 1), `{"targetRef"`, `{"baselineReplicas":2,"targetRef"`, 1),
		"a percentage of nothing":      strings.Replace(base, `"defaultReplicas":1`, `"defaultReplicas":"50%"`, 1),
		"a negative baseline":          strings.Replace(base, `{"targetRef"`, `{"baselineReplicas":-3,"targetRef"`, 1),
		"a baseline that is too large": strings.Replace(base, `{"targetRef"`, `{"baselineReplicas":2000000,"targetRef"`, 1),
		"a Workspace's field":          strings.Replace(base, `{"targetRef"`, `{"workspace":{"keepArchived":true},"targetRef"`, 1),
		"thirty metrics":               strings.Replace(base, windows, `"windows":[`+strings.Join(thirty, ",")+`]`, 1),
		"a name twice":                 strings.Replace(base, windows, `"windows":[{"days":["Mon"],"start":"09:00","end":"17:00","replicas":5,"name":"a"},{"days":["Tue"],"start":"09:00","end":"17:00","replicas":5,"name":"a"}]`, 1),
	}
}

// forged returns an object with a forgery, and beside it the windows that v1alpha1 shows of it.
func forged(t *testing.T, namespace, payload string) *unstructured.Unstructured {
	t.Helper()
	object := forge(t, namespace, `{"spec":`+payload+`}`)
	object.SetName("forged")
	var hidden struct{ Windows []map[string]any }
	harness.Must(t, json.Unmarshal([]byte(payload), &hidden))
	shown := []any{}
	for _, w := range hidden.Windows {
		shown = append(shown, map[string]any{"days": w["days"], "start": w["start"], "end": w["end"], "replicas": int64(5)})
	}
	spec(object)["windows"] = shown
	return object
}

// The annotation brings in nothing that v1beta1 would refuse, whether an object is created with it, as from a backup, or
// gets it later. Without the webhook's answer nothing is stored at all.
func TestForgedAnnotationsAreRefused(t *testing.T) {
	ns := newNamespace(t)
	create(t, ns, plain)
	for name, payload := range forgeries() {
		_, err := in("v1alpha1", ns).Create(t.Context(), forged(t, ns, payload), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsInvalid(err) {
			t.Errorf("%s, created: got %v", name, err)
		}
		if name == "a name twice" && (err == nil || !strings.Contains(err.Error(), "names of windows must be unique")) {
			t.Errorf("%s: got %v", name, err)
		}
		if name == "a name twice" {
			continue // nothing of it would come in: neither of its windows is the one that is there
		}
		text, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{conversion.Annotation: `{"spec":` + payload + `}`}}})
		harness.Must(t, err)
		if err := edit(t, ns, "plain", types.MergePatchType, string(text)); !apierrors.IsInvalid(err) {
			t.Errorf("%s, added: got %v", name, err)
		}
	}
	if diff := cmp.Diff(spec(parse(t, plain))["windows"], spec(get(t, "v1beta1", ns, "plain"))["windows"]); diff != "" {
		t.Errorf("plain has changed (-before +after)\n%s", diff)
	}
}
