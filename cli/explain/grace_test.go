package explain_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
)

// What a grace period keeps is the count in force, not the one before a further decrease, and a day is named that is not near. One
// that runs in the cluster goes on.
func TestKept(t *testing.T) {
	running := &explain.State{Status: v1beta1.TimeWindowScalerStatus{
		EffectiveReplicas: ptr.To[int32](10), GracePeriodExpiry: ptr.To(metav1.NewTime(instant(t, "2026-11-23T12:00:00Z"))),
	}}
	for name, tc := range map[string]struct {
		at    string
		grace int32
		state *explain.State
		want  []string
	}{
		"a further decrease": {"2026-11-23T09:30:00Z", 7200, nil, []string{"window entered: b; 10 kept until 12:00", "window left: b; 10 kept until 12:00"}},
		"with seconds":       {"2026-11-23T10:30:00Z", 90, nil, []string{"window left: b; 5 kept until 11:01:30"}},
		"until the next day": {"2026-11-23T10:30:00Z", 86400, nil, []string{"window left: b; 5 kept until Tue 2026-11-24 11:00"}},
		"one that runs":      {"2026-11-23T10:30:00Z", 7200, running, []string{"window left: b; 10 kept until 12:00"}},
		"one to come":        {"2026-11-23T09:59:59Z", 7200, running, []string{"window entered: b; 10 kept until 12:00", "window left: b; 10 kept until 12:00"}},
		"one of the past":    {"2026-11-23T10:30:00Z", 600, running, []string{"window left: b; 5 kept until 11:10"}},
	} {
		tws := scaler("UTC", window("a", week[:1], "09:00", "10:00", 10), window("b", week[:1], "10:00", "11:00", 5))
		tws.Spec.GracePeriodSeconds = tc.grace
		var text strings.Builder
		if err := explain.Text(&text, explain.Explain(tws, explain.Holidays{}, tc.state, instant(t, tc.at)), false); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(text.String()) {
			if i := strings.Index(line, "window "); i >= 0 && strings.HasPrefix(line, "  Mon 2026-11-23") && strings.Contains(line, "kept") {
				got = append(got, strings.TrimSpace(line[i:]))
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
