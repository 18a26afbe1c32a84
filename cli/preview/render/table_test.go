package render_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/render"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/golden"
)

func table(t *testing.T, zone *time.Location, colours bool, timelines ...*timeline.Timeline) string {
	t.Helper()
	var text strings.Builder
	if err := render.Table(&text, timelines, zone, colours); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// The clock skips from 02:00 to 03:00 within the night window.
func TestTable(t *testing.T) {
	spec := shop()
	spec.Windows[2].Start, spec.Windows[2].End = "12:00", "13:00" // 05:00 in Berlin
	made := compute(t, "shop", spec, "2027-03-27T00:00:00+01:00", "2027-03-31T00:00:00+02:00", "2027-03-29")
	golden.New(t, "table").Add("a week with everything", table(t, nil, false, made))
}

// Colours add nothing but colours.
func TestColoursAreAllThatColoursAdd(t *testing.T) {
	plain, coloured := table(t, nil, false, spring(t), spring(t)), table(t, nil, true, spring(t), spring(t))
	if stripped := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(coloured, ""); stripped != plain || coloured == plain {
		t.Errorf("(-plain +stripped)\n%s", cmp.Diff(plain, stripped))
	}
}

// Another zone changes the local times, but not the days of the schedule.
func TestTableInAnotherZone(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	golden.New(t, "zone").Add("Tokyo", table(t, tokyo, false, spring(t)))
}

func TestTableByKind(t *testing.T) {
	always := shop()
	always.Windows = []v1beta1.Window{{Days: daily, Start: "00:00", End: "24:00", Replicas: intstr.FromInt32(4)}}
	workspace := shop()
	workspace.TargetRef = v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"}
	workspace.DefaultReplicas = intstr.FromInt32(0)
	kept, fetched := workspace.DeepCopy(), workspace.DeepCopy()
	kept.Workspace, fetched.Workspace = &v1beta1.WorkspaceDrive{KeepArchived: true}, &v1beta1.WorkspaceDrive{KeepArchivedAfterDays: new(int32)}
	daemons := shop()
	daemons.TargetRef.Kind, daemons.DefaultReplicas = "DaemonSet", intstr.FromInt32(0)
	paused := shop()
	paused.Pause = true
	open := shop()
	open.Holidays.Mode = v1beta1.HolidayOpen
	want := golden.New(t, "kinds")
	for name, spec := range map[string]*v1beta1.TimeWindowScalerSpec{
		"always the same count": always, "a Workspace": workspace, "a Workspace that stays archived": kept, "a Workspace that is always started": fetched, "a DaemonSet": daemons, "paused": paused, "open holidays": open, "between minutes": shop(),
	} {
		from := "2027-06-11T00:00:00+02:00"
		if name == "between minutes" {
			from = "2027-06-11T00:00:30+02:00"
		}
		want.Add(name, table(t, nil, false, compute(t, "shop", spec, from, "2027-06-11T16:00:00+02:00")))
	}
}

// Several schedules have a total, and notes show the state in a cluster.
func TestTableOfACluster(t *testing.T) {
	missing, unread := inCluster(t), inCluster(t)
	missing.Scaler.HolidaysMissing = true
	unread.Scaler.HolidaysUnread = "configmaps is forbidden"
	want := golden.New(t, "cluster")
	want.Add("holidays that may not be read", table(t, nil, false, unread))
	want.Add("two, one without its ConfigMap", table(t, nil, false, missing, spring(t)))
}
