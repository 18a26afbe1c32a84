package admission

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// zoned is stored with a time zone of its own for its one window.
var zoned = strings.Replace(stored, `"replicas":5`, `"replicas":5,"timezone":"Asia/Kolkata"`, 1)

func TestLossesOfV1alpha1(t *testing.T) {
	rich := strings.Replace(strings.Replace(zoned, `"replicas":5`, `"replicas":"50%","name":"day"`, 1), `"pause":false`, `"pause":false,"baselineReplicas":10`, 1)
	two := strings.Replace(zoned, `"windows":[`, `"windows":[{"days":["Mon"],"start":"19:00","end":"17:00","replicas":5},`, 1)
	const (
		end  = ": v1alpha1 does not have this field, and annotation kyklos.io/v1beta1-spec, which preserves it, was removed or changed; use kyklos.io/v1beta1"
		ends = ": v1alpha1 does not have these fields, and annotation kyklos.io/v1beta1-spec, which preserves them, was removed or changed; use kyklos.io/v1beta1"
	)
	for name, tc := range map[string]struct {
		version, obj, old string
		want              string
	}{
		"one field":               {"v1alpha1", stored, zoned, "spec.windows[0].timezone: lost" + end},
		"two fields":              {"v1alpha1", stored, strings.Replace(zoned, `"days"`, `"name":"day","days"`, 1), "spec.windows[0].name: lost, with 1 more field" + ends},
		"four fields":             {"v1alpha1", stored, rich, "spec.baselineReplicas: lost, with 3 more fields" + ends},
		"a client of v1beta1":     {"v1beta1", stored, zoned, ""},
		"an edit that keeps it":   {"v1alpha1", strings.Replace(zoned, "09:00", "10:00", 1), zoned, ""},
		"the window is deleted":   {"v1alpha1", strings.Replace(stored, `"09:00"`, `"19:00"`, 1), two, ""},
		"nothing to lose":         {"v1alpha1", strings.Replace(stored, "09:00", "10:00", 1), stored, ""},
		"a create, with nothing":  {"v1alpha1", zoned, "", ""},
		"an edit of a percentage": {"v1alpha1", strings.Replace(rich, `"50%"`, `7`, 1), rich, ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := request(tc.obj, tc.old)
			req.RequestKind = &metav1.GroupVersionKind{Group: "kyklos.io", Version: tc.version, Kind: "TimeWindowScaler"}
			response, _ := handle(t, cluster{objects: quiet(t)}.validator(t), req)
			var got []string
			for _, warning := range response.Warnings {
				if strings.Contains(warning, ": lost") {
					got = append(got, warning)
				}
			}
			if strings.Join(got, "\n") != tc.want || !response.Allowed {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if len(tc.want) > 250 {
				t.Errorf("%d bytes may be cut", len(tc.want))
			}
		})
	}
}

// An object whose annotation would not fit is not to be edited through v1alpha1.
func TestTooLongForV1alpha1(t *testing.T) {
	labels := map[string]string{}
	for i := range 16 {
		labels[fmt.Sprint(i)] = strings.Repeat("x", 17<<10)
	}
	selector, err := json.Marshal(labels)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Replace(stored, `"replicas":5`, `"replicas":5,"metric":{"name":"queue","maxReplicas":9,"target":{"type":"Value","value":"1"},"selector":{"matchLabels":`+string(selector)+`}}`, 1)
	for version, allowed := range map[string]bool{"v1alpha1": false, "v1beta1": true} {
		req := request(strings.Replace(long, "09:00", "10:00", 1), long)
		req.RequestKind = &metav1.GroupVersionKind{Group: "kyklos.io", Version: version, Kind: "TimeWindowScaler"}
		response, _ := handle(t, cluster{objects: quiet(t)}.validator(t), req)
		if response.Allowed != allowed || !allowed && !strings.Contains(response.Result.Message, "spec: Forbidden: too long to be edited through v1alpha1") {
			t.Errorf("%s: %+v", version, response.Result)
		}
	}
}
