package gitops

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/statuswriter"
	"kyklos.io/kyklos/test/harness"
)

// health is the script's result.
type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func healthOf(t *testing.T, object any) health { return runHealth(t, scripts, object) }

func runHealth(t *testing.T, scripts string, object any) health {
	t.Helper()
	answer := runScript(t, filepath.Join(scripts, "health.lua"), object).(map[string]any)
	return health{Status: answer["status"].(string), Message: answer["message"].(string)}
}

// These cases run as in Argo CD's own tests.
func TestHealthOfTheTestData(t *testing.T) {
	for _, scripts := range []string{scripts, workspaceScripts} {
		t.Run(filepath.Base(scripts), func(t *testing.T) { healthOfTheTestData(t, scripts) })
	}
}

func healthOfTheTestData(t *testing.T, scripts string) {
	var suite struct {
		Tests []struct {
			HealthStatus health `json:"healthStatus"`
			InputPath    string `json:"inputPath"`
		} `json:"tests"`
	}
	readYAML(t, filepath.Join(scripts, "health_test.yaml"), &suite)
	named := map[string]bool{}
	for _, test := range suite.Tests {
		named[test.InputPath] = true
		t.Run(filepath.Base(test.InputPath), func(t *testing.T) {
			var object map[string]any
			readYAML(t, filepath.Join(scripts, test.InputPath), &object)
			same(t, runHealth(t, scripts, object), test.HealthStatus)
		})
	}
	files, err := filepath.Glob(filepath.Join(scripts, "testdata", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found no test data: %v", err)
	}
	for _, file := range files {
		if path := filepath.Join("testdata", filepath.Base(file)); !named[path] {
			t.Errorf("%s is in no test", path)
		}
	}
}

// scaler is a TimeWindowScaler with the controller's conditions since the given time.
func scaler(t *testing.T, states statuswriter.States, since time.Time, pause bool) map[string]any {
	t.Helper()
	tws := &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
	tws.Spec.Pause = pause
	tws.Status.ObservedGeneration = 3
	tws.Status.Conditions = statuswriter.BuildConditions(states, nil, 3, metav1.NewTime(since.UTC().Truncate(time.Second)))
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(tws)
	harness.Must(t, err)
	return toJSON(t, object)
}

func state(status metav1.ConditionStatus, reason string) statuswriter.State {
	return statuswriter.State{Status: status, Reason: reason, Message: reason + " is the reason"}
}

var (
	aligned   = state(metav1.ConditionTrue, v1beta1.ReasonReconciled)
	different = state(metav1.ConditionFalse, v1beta1.ReasonTargetMismatch)
	stable    = state(metav1.ConditionFalse, v1beta1.ReasonStable)
	normal    = state(metav1.ConditionFalse, v1beta1.ReasonOperationalNormal)
)

// verdicts is the application's health for each reason: at first, and after more than its patience. An empty value means
// no change.
var verdicts = map[string]struct {
	states    statuswriter.States
	at, after string
	patience  time.Duration
}{
	v1beta1.ReasonReconciled:        {states: statuswriter.States{Ready: aligned, Reconciling: stable, Degraded: normal}, at: "Healthy"},
	v1beta1.ReasonTargetInUse:       {states: statuswriter.States{Ready: state(metav1.ConditionTrue, v1beta1.ReasonTargetInUse), Reconciling: stable, Degraded: normal}, at: "Healthy"},
	v1beta1.ReasonStable:            {states: statuswriter.States{Ready: aligned, Reconciling: stable, Degraded: normal}, at: "Healthy"},
	v1beta1.ReasonOperationalNormal: {states: statuswriter.States{Ready: aligned, Reconciling: stable, Degraded: normal}, at: "Healthy"},
	v1beta1.ReasonTargetMismatch: {
		states: statuswriter.States{Ready: different, Reconciling: state(metav1.ConditionTrue, v1beta1.ReasonWindowTransition), Degraded: normal},
		at:     "Progressing",
	},
	v1beta1.ReasonWindowTransition: {
		states: statuswriter.States{Ready: different, Reconciling: state(metav1.ConditionTrue, v1beta1.ReasonWindowTransition), Degraded: normal},
		at:     "Progressing",
	},
	v1beta1.ReasonConfigurationChange: {
		states: statuswriter.States{Ready: different, Reconciling: state(metav1.ConditionTrue, v1beta1.ReasonConfigurationChange), Degraded: normal},
		at:     "Progressing",
	},
	v1beta1.ReasonTargetNotFound: {
		states: statuswriter.States{Ready: state(metav1.ConditionFalse, v1beta1.ReasonTargetNotFound), Reconciling: stable, Degraded: normal},
		at:     "Progressing", after: "Degraded", patience: 2 * time.Minute,
	},
	v1beta1.ReasonTargetConflict: {
		states: statuswriter.States{Ready: state(metav1.ConditionFalse, v1beta1.ReasonTargetConflict), Reconciling: stable, Degraded: normal},
		at:     "Progressing", after: "Degraded", patience: 2 * time.Minute,
	},
	v1beta1.ReasonTargetForbidden: {
		states: statuswriter.States{
			Ready: state(metav1.ConditionFalse, v1beta1.ReasonTargetForbidden), Reconciling: stable,
			Degraded: state(metav1.ConditionTrue, v1beta1.ReasonTargetForbidden),
		},
		at: "Progressing", after: "Degraded", patience: 2 * time.Minute,
	},
	v1beta1.ReasonBeingDeleted: {
		states: statuswriter.States{
			Ready: state(metav1.ConditionFalse, v1beta1.ReasonBeingDeleted), Reconciling: stable,
			Degraded: state(metav1.ConditionFalse, v1beta1.ReasonBeingDeleted),
		},
		at: "Progressing",
	},
	v1beta1.ReasonHolidaySourceMissing: {
		states: statuswriter.States{Ready: aligned, Reconciling: stable, Degraded: state(metav1.ConditionTrue, v1beta1.ReasonHolidaySourceMissing)},
		at:     "Progressing", after: "Degraded", patience: 2 * time.Minute,
	},
	v1beta1.ReasonScaleFailed: {
		states: statuswriter.States{Ready: different, Reconciling: stable, Degraded: state(metav1.ConditionTrue, v1beta1.ReasonScaleFailed)},
		at:     "Progressing", after: "Degraded", patience: 2 * time.Minute,
	},
	v1beta1.ReasonTargetUnavailable: {
		states: statuswriter.States{
			Ready: state(metav1.ConditionUnknown, v1beta1.ReasonTargetUnavailable), Reconciling: stable,
			Degraded: state(metav1.ConditionTrue, v1beta1.ReasonTargetUnavailable),
		},
		at: "Progressing", after: "Degraded", patience: 2 * time.Minute,
	},
	v1beta1.ReasonMetricUnavailable: {
		states: statuswriter.States{Ready: aligned, Reconciling: stable, Degraded: state(metav1.ConditionTrue, v1beta1.ReasonMetricUnavailable)},
		at:     "Healthy", after: "Degraded", patience: 10 * time.Minute,
	},
	v1beta1.ReasonInvalidTimezone: {
		states: statuswriter.States{Ready: aligned, Reconciling: stable, Degraded: state(metav1.ConditionTrue, v1beta1.ReasonInvalidTimezone)},
		at:     "Degraded",
	},
	v1beta1.ReasonInvalidConfiguration: {
		states: statuswriter.States{
			Ready: state(metav1.ConditionFalse, v1beta1.ReasonInvalidConfiguration), Reconciling: stable,
			Degraded: state(metav1.ConditionTrue, v1beta1.ReasonInvalidConfiguration),
		},
		at: "Degraded",
	},
	// Kyklos waits before it reports this, and keeps working.
	"FieldFight": {
		states: statuswriter.States{Ready: different, Reconciling: stable, Degraded: state(metav1.ConditionTrue, "FieldFight")},
		at:     "Degraded",
	},
}

// Every reason has a verdict. The health of a lasting condition depends on its duration, in any time zone of Argo CD's
// clock.
func TestEveryReasonHasAVerdict(t *testing.T) {
	for _, reason := range reasonsOf(t, "v1beta1/conditions.go") {
		if _, found := verdicts[reason]; !found {
			t.Errorf("nothing is said of the reason %s", reason)
		}
	}
	for _, zone := range []string{"UTC", "America/Los_Angeles", "Asia/Kathmandu"} {
		location, err := time.LoadLocation(zone)
		harness.Must(t, err)
		t.Run(location.String(), func(t *testing.T) {
			defer func(before *time.Location) { time.Local = before }(time.Local)
			time.Local = location
			for reason, v := range verdicts {
				const busy = 30 * time.Second // how long this may take, on either side
				now := time.Now()
				for since, want := range map[time.Time]string{
					now: v.at, now.Add(-v.patience + busy): v.at, now.Add(-v.patience - busy): cmp.Or(v.after, v.at),
				} {
					if got := healthOf(t, scaler(t, v.states, since, false)); got.Status != want {
						t.Errorf("%s for %s: %+v, want %s", reason, now.Sub(since), got, want)
					}
				}
			}
		})
	}
}

// The table of docs/gitops.md matches.
func TestVerdictsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("docs/gitops.md")
	harness.Must(t, err)
	documented, want := map[string][]string{}, map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| (\\w+) \\| (\\w*) *\\|$").FindAllSubmatch(page, -1) {
		documented[string(row[1])] = []string{string(row[2]), string(row[3]), string(row[4])}
	}
	for reason, v := range verdicts {
		after := ""
		if v.patience > 0 {
			after = v.patience.String()
		}
		want[reason] = []string{v.at, cmp.Or(v.after, v.at), after}
	}
	same(t, documented, want)
}

// A paused scaler is Suspended whether or not its target matches, but Degraded if it is degraded.
func TestPaused(t *testing.T) {
	long := time.Now().Add(-24 * time.Hour)
	for reason, v := range verdicts {
		v.states.Reconciling = stable
		got := healthOf(t, scaler(t, v.states, long, true))
		want := "Suspended"
		if cmp.Or(v.after, v.at) == "Degraded" {
			want = "Degraded"
		}
		if got.Status != want {
			t.Errorf("%s: %+v, want %s", reason, got, want)
		}
	}
}

// A status of an older generation is Progressing.
func TestAnOlderGenerationIsProgressing(t *testing.T) {
	for reason, v := range verdicts {
		for _, pause := range []bool{false, true} {
			object := scaler(t, v.states, time.Now().Add(-24*time.Hour), pause)
			object["metadata"].(map[string]any)["generation"] = float64(4)
			if got := healthOf(t, object); got.Status != "Progressing" {
				t.Errorf("%s: %+v", reason, got)
			}
		}
	}
}
