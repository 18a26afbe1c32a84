package output_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/output"
	"kyklos.io/kyklos/cli/preview/timeline"
)

func table(t *testing.T, options output.Options, timelines ...*timeline.Timeline) string {
	t.Helper()
	var text strings.Builder
	if err := output.Table(&text, timelines, options); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// A table says all that a newcomer needs: this one is looked at by people. The clock skips from 02:00 to 03:00 within the night window.
func TestTable(t *testing.T) {
	spec := shop()
	spec.Windows[2].Start, spec.Windows[2].End = "12:00", "13:00" // 05:00 in Berlin
	timeline := compute(t, "shop", spec, "2027-03-27T00:00:00+01:00", "2027-03-31T00:00:00+02:00", "2027-03-29")
	want := `stores/shop scales Deployment shop
  Sat 2027-03-27 00:00 +01:00 until Wed 2027-03-31 00:00 +02:00, Europe/Berlin

  BusinessHours  12  Mon-Fri 08:00-18:00
  nights          3  daily 22:00-02:30, by metric 2 to 9
  tokyo           5  Sun 12:00-13:00 Asia/Tokyo
  OffHours        1  otherwise
  holidays           ConfigMap days-off, treat-as-closed: the default all day

  LOCAL TIME                   UTC                COUNT     WINDOW         WHY
  Sat 2027-03-27 00:00 +01:00  2027-03-26 23:00Z   3        nights         at the start
  Sat 2027-03-27 02:30 +01:00  2027-03-27 01:30Z   3 -> 1   OffHours       window left: nights; 3 kept until 04:00
  Sat 2027-03-27 22:00 +01:00  2027-03-27 21:00Z   1 -> 3   nights         window entered: nights
  Sun 2027-03-28 03:00 +02:00  2027-03-28 01:00Z   3 -> 1   OffHours       * clock goes forward from 02:00 to 03:00: window left: nights; 3 kept until 04:30
  Sun 2027-03-28 05:00 +02:00  2027-03-28 03:00Z   1 -> 5   tokyo          window entered: tokyo
  Sun 2027-03-28 06:00 +02:00  2027-03-28 04:00Z   5 -> 1   OffHours       window left: tokyo; 5 kept until 07:30
  Sun 2027-03-28 22:00 +02:00  2027-03-28 20:00Z   1 -> 3   nights         window entered: nights
  Mon 2027-03-29 00:00 +02:00  2027-03-28 22:00Z   3 -> 1   OffHours       holiday 2027-03-29 begins: treat-as-closed; 3 kept until 01:30
  Tue 2027-03-30 00:00 +02:00  2027-03-29 22:00Z   1 -> 3   nights         holiday 2027-03-29 is over
  Tue 2027-03-30 02:30 +02:00  2027-03-30 00:30Z   3 -> 1   OffHours       window left: nights; 3 kept until 04:00
  Tue 2027-03-30 08:00 +02:00  2027-03-30 06:00Z   1 -> 12  BusinessHours  window entered: BusinessHours
  Tue 2027-03-30 18:00 +02:00  2027-03-30 16:00Z  12 -> 1   OffHours       window left: BusinessHours; 12 kept until 19:30
  Tue 2027-03-30 22:00 +02:00  2027-03-30 20:00Z   1 -> 3   nights         window entered: nights

  REPLICA-HOURS  Mon  Tue  Wed  Thu  Fri  Sat  Sun  WEEK
  2027-03-22       .    .    .    .    .   33  *35    68
  2027-03-29     h24  143    .    .    .    .    .   167
  h: a holiday
  *: the clock changes on this day
  235 replica-hours in all; 12 all the time would be 1140: saves 905, 79 %.

  Note: A lower count waits 1 h 30 min (spec.gracePeriodSeconds). The replica-hours do not count the wait.
  Note: In the window nights the metric queue sets the count, from 2 to 9. The 3 shown is what it falls back on without a value.
`
	if diff := cmp.Diff(want, table(t, output.Options{}, timeline)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Colours say nothing that is not there without them.
func TestColoursAreAllThatColoursAdd(t *testing.T) {
	plain, coloured := table(t, output.Options{}, spring(t), spring(t)), table(t, output.Options{Colours: true}, spring(t), spring(t))
	if stripped := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(coloured, ""); stripped != plain || coloured == plain {
		t.Errorf("(-plain +stripped)\n%s", cmp.Diff(plain, stripped))
	}
}

// Another zone moves the local times and leaves the days of the schedule alone.
func TestTableInAnotherZone(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	text := table(t, output.Options{Zone: tokyo}, spring(t))
	for _, want := range []string{
		"Sat 2027-03-27 08:00 +09:00 until Wed 2027-03-31 07:00 +09:00, Asia/Tokyo", "timezone           Europe/Berlin",
		"Sat 2027-03-27 10:30 +09:00  2027-03-27 01:30Z   3 -> 1   OffHours       window left: nights; 3 kept until 12:00",
		"clock goes forward from 02:00 to 03:00", "2027-03-22       .    .    .    .    .   33",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestWhatElseTheTableSays(t *testing.T) {
	always := shop()
	always.Windows = []v1beta1.Window{{Days: daily, Start: "00:00", End: "24:00", Replicas: intstr.FromInt32(4)}}
	workspace := shop()
	workspace.TargetRef = v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"}
	workspace.DefaultReplicas = intstr.FromInt32(0)
	daemons := shop()
	daemons.TargetRef.Kind, daemons.DefaultReplicas = "DaemonSet", intstr.FromInt32(0)
	paused := shop()
	paused.Pause = true
	open := shop()
	open.Holidays.Mode = v1beta1.HolidayOpen
	for name, tc := range map[string]struct {
		spec *v1beta1.TimeWindowScalerSpec
		want string
	}{
		"nothing changes": {always, "The count does not change."},
		"nothing saved":   {always, "  64 replica-hours in all; 4 all the time would be 64.\n"},
		"a workspace":     {workspace, "1 RUNNING -> 0 STANDBY"},
		"a daemon set":    {daemons, "3 -> 0 suspended"},
		"paused":          {paused, "Note: It is paused (spec.pause): Kyklos leaves the Deployment alone."},
		"open holidays":   {open, "ConfigMap days-off, treat-as-open: the highest count of all windows all day"},
		"between minutes": {shop(), "Fri 2027-06-11 00:00:30 +02:00  2027-06-10 22:00:30Z"},
	} {
		from := "2027-06-11T00:00:00+02:00"
		if name == "between minutes" {
			from = "2027-06-11T00:00:30+02:00"
		}
		if text := table(t, output.Options{}, compute(t, "shop", tc.spec, from, "2027-06-11T16:00:00+02:00")); !strings.Contains(text, tc.want) {
			t.Errorf("%s: no %q in\n%s", name, tc.want, text)
		}
	}
}

// Several schedules are added up, and what a cluster says of one is told.
func TestSeveralAndTheirState(t *testing.T) {
	timeline := inCluster(t)
	timeline.Scaler.HolidaysMissing = true
	unread := inCluster(t)
	unread.Scaler.HolidaysUnread = "configmaps is forbidden"
	if text, want := table(t, output.Options{}, unread), "Note: The holidays are not known: you may not read ConfigMap days-off, which Kyklos goes by (configmaps is forbidden)."; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	text := table(t, output.Options{}, timeline, spring(t))
	for _, want := range []string{
		"All 2 schedules: 470 replica-hours in all; each at its highest all the time would be 2280: saves 1810, 79 %.",
		"Note: In the cluster it asks for 3 now, and the Deployment has 2.", "Note: Today, 2027-03-27, is a holiday.",
		"Note: A grace period runs: the lower count applies at Sat 2027-03-27 04:00 +01:00.",
		"Note: The holidays are not known: no ConfigMap days-off was found.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
