package timewindowscaler

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// A3: what the schema refuses is reported with everything else that is invalid, each field once. The schema is asked again
// when the spec changes, whatever its generation, and only then. Zones are left to the schedule.
func TestWhatTheSchemaRefuses(t *testing.T) {
	s := newScenario(t, 7)
	var refused refusedSpec
	reported := func() string {
		t.Helper()
		var err error
		if s.obs.refused, err = refused.of(t.Context(), &s.tws.Spec); err != nil {
			t.Fatal(err)
		}
		return s.pass("2025-01-27 14:00:00").plan.invalid
	}
	if invalid := reported(); invalid != "" {
		t.Errorf("a valid spec: %s", invalid)
	}
	s.obs.target = deployment(7, 7)

	s.tws.Spec.Timezone, s.tws.Spec.BaselineReplicas, s.tws.Spec.Workspace = "Mars/Olympus_Mons", ptr.To[int32](-1), &v1beta1.WorkspaceDrive{}
	s.tws.Spec.Windows[0].Name, s.tws.Spec.Windows[0].End = "OffHours", "09:00"
	invalid := reported()
	for _, field := range []string{"spec.timezone", "spec.baselineReplicas", "spec.workspace", "spec.windows[0].name", "spec.windows[0].end"} {
		if strings.Count(invalid, field+":") != 1 {
			t.Errorf("%s is not named once: %s", field, invalid)
		}
	}
	if s.last.plan.Write {
		t.Error("the target is written")
	}
	before := refused
	refused.errs = refused.errs[:1] // shows whether it is asked again
	if _ = reported(); len(s.obs.refused) != 1 {
		t.Error("the schema is asked about the same spec again")
	}
	refused = before

	s.tws.Spec = officeHours().Spec
	s.tws.Spec.Timezone = "Mars/Olympus_Mons"
	if invalid := reported(); invalid != "" || s.last.plan.badZone == "" {
		t.Errorf("an unknown zone: %q, %q", invalid, s.last.plan.badZone)
	}
}

// After a start, a spec that was accepted before is checked after all that is due, or before the target is written.
func TestTheFirstCheckCanWait(t *testing.T) {
	for name, tc := range map[string]struct {
		at     string
		checks []bool
		spec   func(*v1beta1.TimeWindowScaler)
		writes int64
	}{
		"nothing is due":          {"2025-01-27 08:30:00", []bool{false, true}, nil, 0},
		"a boundary has passed":   {"2025-01-27 09:00:00", []bool{true}, nil, 1},
		"refused, nothing is due": {"2025-01-27 08:30:00", []bool{false, true}, refusedLater, 0},
		"refused, at a boundary":  {"2025-01-27 09:00:00", []bool{true}, refusedLater, 0},
		"a new generation":        {"2025-01-27 08:30:00", []bool{true}, func(tws *v1beta1.TimeWindowScaler) { tws.Generation++ }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			v := newTurns(t)
			if tc.spec != nil {
				change(v.api, scalerAt(lateScaler), tc.spec)
			}
			v.start()
			v.clock.SetTime(ist(tc.at))
			for i, want := range tc.checks {
				v.called = 0
				_, writes := v.pass()
				state := v.r.memory.of(types.NamespacedName{Name: lateScaler})
				if state.refused.checked != want || !want && v.called == 0 {
					t.Errorf("pass %d: checked %v, want %v; called %d times", i, state.refused.checked, want, v.called)
				}
				if i == 0 && writes != tc.writes {
					t.Errorf("%d writes, want %d", writes, tc.writes)
				}
			}
		})
	}
}

// refusedLater is what a later version of the schema refuses in a stored spec.
func refusedLater(tws *v1beta1.TimeWindowScaler) { tws.Spec.BaselineReplicas = ptr.To[int32](-1) }
