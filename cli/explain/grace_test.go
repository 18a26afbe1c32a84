package explain_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
	"kyklos.io/kyklos/internal/golden"
)

// A grace period keeps the effective count, not the one before a further decrease. One that is running in the cluster continues.
func TestKept(t *testing.T) {
	running := &explain.State{Status: v1beta1.TimeWindowScalerStatus{
		EffectiveReplicas: ptr.To[int32](10), GracePeriodExpiry: ptr.To(metav1.NewTime(instant(t, "2026-11-23T12:00:00Z"))),
	}}
	want := golden.New(t, "kept")
	for name, tc := range map[string]struct {
		at    string
		grace int32
		state *explain.State
	}{
		"a further decrease": {"2026-11-23T09:30:00Z", 7200, nil},
		"with seconds":       {"2026-11-23T10:30:00Z", 90, nil},
		"until the next day": {"2026-11-23T10:30:00Z", 86400, nil},
		"one that runs":      {"2026-11-23T10:30:00Z", 7200, running},
		"one to come":        {"2026-11-23T09:59:59Z", 7200, running},
		"one of the past":    {"2026-11-23T10:30:00Z", 600, running},
	} {
		tws := scaler("UTC", window("a", week[:1], "09:00", "10:00", 10), window("b", week[:1], "10:00", "11:00", 5))
		tws.Spec.GracePeriodSeconds = tc.grace
		var text strings.Builder
		if err := explain.Text(&text, explain.Explain(tws, explain.Holidays{}, tc.state, instant(t, tc.at)), false); err != nil {
			t.Fatal(err)
		}
		_, next, _ := strings.Cut(text.String(), "Next changes of the count:\n")
		want.Add(name, next)
	}
}
