package schedule_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
)

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func daysAgo(days float64) *metav1.Time {
	return ptr.To(metav1.NewTime(monday.Add(-time.Duration(days * float64(24*time.Hour)))))
}

// W96.
func TestLastUse(t *testing.T) {
	by := func(uid string, days float64) *v1beta1.Applied {
		return &v1beta1.Applied{TargetUID: uid, StartedByOthers: daysAgo(days)}
	}
	for name, tc := range map[string]struct {
		status  v1alpha1.WorkspaceStatus
		applied *v1beta1.Applied
		want    *metav1.Time
	}{
		"a new one":                               {},
		"it never ran":                            {applied: &v1beta1.Applied{TargetUID: "w"}},
		"activity":                                {status: v1alpha1.WorkspaceStatus{LastActivityTime: daysAgo(9)}, want: daysAgo(9)},
		"a start by the schedule is no use":       {status: v1alpha1.WorkspaceStatus{LastActivityTime: daysAgo(9), RunningSince: daysAgo(1)}, want: daysAgo(9)},
		"nor is what follows it":                  {status: v1alpha1.WorkspaceStatus{LastActivityTime: daysAgo(9), StandbySince: daysAgo(1), Archive: &v1alpha1.ArchiveStatus{CompletedAt: daysAgo(1)}}, want: daysAgo(9)},
		"a start by hand":                         {status: v1alpha1.WorkspaceStatus{LastActivityTime: daysAgo(9)}, applied: by("w", 3), want: daysAgo(3)},
		"a start by hand, and activity":           {status: v1alpha1.WorkspaceStatus{LastActivityTime: daysAgo(2)}, applied: by("w", 3), want: daysAgo(2)},
		"a start of another Workspace":            {status: v1alpha1.WorkspaceStatus{LastActivityTime: daysAgo(9)}, applied: by("v", 3), want: daysAgo(9)},
		"no activity was ever reported: runs":     {status: v1alpha1.WorkspaceStatus{RunningSince: daysAgo(3)}, want: daysAgo(3)},
		"no activity was ever reported: stops":    {status: v1alpha1.WorkspaceStatus{StandbySince: daysAgo(3)}, want: daysAgo(3)},
		"no activity was ever reported: archived": {status: v1alpha1.WorkspaceStatus{Archive: &v1alpha1.ArchiveStatus{CompletedAt: daysAgo(3)}}, want: daysAgo(3)},
		"an archive without a time":               {status: v1alpha1.WorkspaceStatus{Archive: &v1alpha1.ArchiveStatus{}}},
	} {
		if got := schedule.OrStarted(schedule.LastUse(&tc.status), tc.applied, "w"); !got.Equal(ptr.Deref(tc.want, metav1.Time{}).Time) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// W95.
func TestKeepArchived(t *testing.T) {
	after := func(days int32) *v1beta1.WorkspaceDrive { return &v1beta1.WorkspaceDrive{KeepArchivedAfterDays: &days} }
	for name, tc := range map[string]struct {
		how  *v1beta1.WorkspaceDrive
		used *metav1.Time
		kept bool
	}{
		"by default: a week":                {nil, daysAgo(7), false},
		"by default: more than a week":      {nil, daysAgo(7.001), true},
		"other settings leave the default":  {&v1beta1.WorkspaceDrive{StopWhileInUse: true}, daysAgo(7.001), true},
		"never":                             {after(0), daysAgo(1000), false},
		"a number of days":                  {after(30), daysAgo(30), false},
		"more than that":                    {after(30), daysAgo(30.001), true},
		"never used":                        {after(1), nil, false},
		"used in the future, by its clock":  {after(1), daysAgo(-1000), false},
		"always":                            {&v1beta1.WorkspaceDrive{KeepArchived: true}, daysAgo(0), true},
		"always, also if it was never used": {&v1beta1.WorkspaceDrive{KeepArchived: true}, nil, true},
	} {
		if got := schedule.KeepArchived(tc.how, ptr.Deref(tc.used, metav1.Time{}).Time, monday); (got != "") != tc.kept {
			t.Errorf("%s: %q", name, got)
		}
	}
	want := "it was not used since 2026-02-20T09:00:00Z, for more than 7 days (spec.workspace.keepArchivedAfterDays); " +
		"to restore it, set spec.desiredState of the Workspace to RUNNING, and the schedule starts it again"
	if got := schedule.KeepArchived(nil, daysAgo(10).Time, monday); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Whoever uses it is not left without it: no later use makes a schedule leave a Workspace archived that it would start.
func TestUseOnlyHelps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) *metav1.Time {
			if rapid.Bool().Draw(t, name+" is known") {
				return daysAgo(float64(rapid.IntRange(-2, 40).Draw(t, name)))
			}
			return nil
		}
		how := &v1beta1.WorkspaceDrive{KeepArchivedAfterDays: ptr.To(rapid.Int32Range(0, 20).Draw(t, "days"))}
		status := v1alpha1.WorkspaceStatus{
			LastActivityTime: at("activity"), RunningSince: at("running"), StandbySince: at("standby"),
			Archive: &v1alpha1.ArchiveStatus{CompletedAt: at("archived")},
		}
		applied := &v1beta1.Applied{TargetUID: "w", StartedByOthers: at("started")}
		lastUse := func() time.Time { return schedule.OrStarted(schedule.LastUse(&status), applied, "w") }
		kept := func() bool { return schedule.KeepArchived(how, lastUse(), monday) != "" }
		before := kept()
		if lastUse().IsZero() {
			return // before its first use it is started anyway
		}
		used := daysAgo(float64(rapid.IntRange(0, 40).Draw(t, "used")))
		switch byHand := rapid.Bool().Draw(t, "by hand"); {
		case byHand && (applied.StartedByOthers.IsZero() || used.After(applied.StartedByOthers.Time)):
			applied.StartedByOthers = used
		case !byHand && !status.LastActivityTime.IsZero() && used.After(status.LastActivityTime.Time):
			status.LastActivityTime = used
		}
		if !before && kept() {
			t.Fatalf("used on %v: it is left archived, and was not before", used)
		}
	})
}
