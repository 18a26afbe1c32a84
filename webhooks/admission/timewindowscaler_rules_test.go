package admission_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/webhooks/admission"
)

// november is when the examples take place: after 2026's last clock change in Europe, 13 months before
// the one after the next.
var november = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

var weekdays = []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri"}

func window(start, end string, replicas int32, days ...v1beta1.Weekday) v1beta1.Window {
	return v1beta1.Window{Days: days, Start: start, End: end, Replicas: intstr.FromInt32(replicas)}
}

// office returns a valid scaler about which there is nothing to say, with the edits made.
func office(edits ...func(*v1beta1.TimeWindowScaler)) *v1beta1.TimeWindowScaler {
	obj := &v1beta1.TimeWindowScaler{
		ObjectMeta: metav1.ObjectMeta{Name: "office", Namespace: "shop", UID: "m", CreationTimestamp: metav1.NewTime(november)},
		Spec: v1beta1.TimeWindowScalerSpec{
			TargetRef: v1beta1.TargetRef{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Namespace: "shop"},
			Timezone:  "Europe/Berlin",
			Windows:   []v1beta1.Window{window("09:00", "17:00", 5, weekdays...)},
		},
	}
	for _, edit := range edits {
		edit(obj)
	}
	return obj
}

func inZone(zone string) func(*v1beta1.TimeWindowScaler) {
	return func(obj *v1beta1.TimeWindowScaler) { obj.Spec.Timezone = zone }
}

func withWindows(windows ...v1beta1.Window) func(*v1beta1.TimeWindowScaler) {
	return func(obj *v1beta1.TimeWindowScaler) { obj.Spec.Windows = windows }
}

func withTarget(namespace, name string) func(*v1beta1.TimeWindowScaler) {
	return func(obj *v1beta1.TimeWindowScaler) {
		obj.Spec.TargetRef.Namespace, obj.Spec.TargetRef.Name = namespace, name
	}
}

func withHolidays(mode v1beta1.HolidayMode, source *v1beta1.HolidaySource) func(*v1beta1.TimeWindowScaler) {
	return func(obj *v1beta1.TimeWindowScaler) {
		obj.Spec.Holidays = &v1beta1.Holidays{Mode: mode, SourceRef: source}
	}
}

// rival returns another scaler of the same target, created that long after office.
func rival(name string, later time.Duration, uid types.UID) *v1beta1.TimeWindowScaler {
	return office(func(obj *v1beta1.TimeWindowScaler) {
		obj.Name, obj.UID, obj.CreationTimestamp = name, uid, metav1.NewTime(november.Add(later))
	})
}

func rivals(r ...*v1beta1.TimeWindowScaler) admission.Facts { return admission.Facts{Rivals: r} }

func TestValidate(t *testing.T) {
	const (
		namespaceRule = `spec.targetRef.namespace: Invalid value: "back": must be "shop", the namespace of this TimeWindowScaler, or left out: workloads of other namespaces cannot be scaled`
		nightOwns     = `spec.targetRef.name: Duplicate value: "web": TimeWindowScaler "night" scales Deployment "web" already, and a workload has one at most: add the windows to that one, or delete it first`
	)
	older, younger := rival("night", -time.Hour, "z"), rival("batch", time.Hour, "a")
	for name, tc := range map[string]struct {
		obj, old *v1beta1.TimeWindowScaler
		facts    admission.Facts
		want     []string
	}{
		"nothing wrong":                  {obj: office()},
		"namespace left out":             {obj: office(withTarget("", "web"))},
		"another namespace":              {obj: office(withTarget("back", "web")), want: []string{namespaceRule}},
		"in a file, without a namespace": {obj: office(withTarget("back", "web"), func(o *v1beta1.TimeWindowScaler) { o.Namespace = "" })},
		"target owned by an older one":   {obj: office(), facts: rivals(younger, older), want: []string{nightOwns}},
		"target owned, by one of the same second": {obj: office(), facts: rivals(rival("noon", 0, "b"), rival("night", 0, "a")),
			want: []string{nightOwns}},
		"an update to another namespace": {obj: office(withTarget("back", "web")), old: office(), want: []string{namespaceRule}},
		"an update to an owned target":   {obj: office(), old: office(withTarget("shop", "api")), facts: rivals(older), want: []string{nightOwns}},
		"an update to a target that a younger one has": {obj: office(), old: office(withTarget("shop", "api")),
			facts: rivals(rival("night", time.Hour, "a")), want: []string{nightOwns}},
		"a conflict from before the update":  {obj: office(inZone("UTC")), old: office(), facts: rivals(older)},
		"and the namespace is filled in now": {obj: office(), old: office(withTarget("", "web")), facts: rivals(older)},
		"a namespace from before the update": {obj: office(withTarget("back", "web"), inZone("UTC")), old: office(withTarget("back", "web"))},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range admission.ValidateTimeWindowScaler(tc.obj, tc.old, tc.facts) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// warningCase is an object, what is known beside it, and all that is said about it.
type warningCase struct {
	obj, old *v1beta1.TimeWindowScaler
	facts    admission.Facts
	now      time.Time // november when zero
	want     []string
}

func checkWarnings(t *testing.T, cases map[string]warningCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.now.IsZero() {
				tc.now = november
			}
			got := admission.WarnTimeWindowScaler(tc.obj, tc.old, tc.facts, tc.now)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTargetWarnings(t *testing.T) {
	const (
		olderHasIt   = `spec.targetRef.name: the older TimeWindowScaler "night" scales Deployment "web": this one does nothing until that one is deleted`
		youngerHasIt = `spec.targetRef.name: TimeWindowScaler "night" names Deployment "web" too: it does nothing while this one, the older, exists`
	)
	checkWarnings(t, map[string]warningCase{
		"nothing to say": {obj: office()},
		"no target yet": {obj: office(), facts: admission.Facts{TargetMissing: true}, want: []string{
			`spec.targetRef.name: there is no Deployment "web" in namespace "shop" yet: it is scaled as soon as it exists`}},
		"an autoscaler": {obj: office(), facts: admission.Facts{Autoscalers: []string{"web"}}, want: []string{
			`spec.targetRef.name: HorizontalPodAutoscaler "web" scales Deployment "web" too: each will undo what the other does, so keep only one of them`}},
		"autoscalers in any order": {obj: office(), facts: admission.Facts{Autoscalers: []string{"web-b", "web-a"}}, want: []string{
			`spec.targetRef.name: HorizontalPodAutoscaler "web-a" scales Deployment "web" too: each will undo what the other does, so keep only one of them`}},
		"a refused object is not warned about the refusal": {obj: office(), facts: rivals(rival("night", -time.Hour, "z"))},
		"an old conflict with an older one":                {obj: office(), old: office(inZone("UTC")), facts: rivals(rival("night", -time.Hour, "z")), want: []string{olderHasIt}},
		"an old conflict with a younger one":               {obj: office(), old: office(inZone("UTC")), facts: rivals(rival("night", time.Hour, "a")), want: []string{youngerHasIt}},
		"an old conflict in one second, larger UID":        {obj: office(), old: office(inZone("UTC")), facts: rivals(rival("night", 0, "a")), want: []string{olderHasIt}},
		"an old conflict in one second, smaller UID":       {obj: office(), old: office(inZone("UTC")), facts: rivals(rival("night", 0, "z")), want: []string{youngerHasIt}},
		"an old target in another namespace": {obj: office(withTarget("back", "web")), old: office(withTarget("back", "web"), inZone("UTC")),
			facts: admission.Facts{TargetMissing: true}, want: []string{
				`spec.targetRef.namespace: "back" is not the namespace of this TimeWindowScaler: nothing is scaled until it is "shop"`}},
		"a long name": {obj: office(withTarget("shop", "a-very-long-name-of-a-workload-that-fills-a-line")), facts: admission.Facts{TargetMissing: true}, want: []string{
			`spec.targetRef.name: there is no Deployment "a-very-long-name-of-a-workload-that-f..." in namespace "shop" yet: it is scaled as soon as it exists`}},
	})
}

func TestHolidayWarnings(t *testing.T) {
	source := &v1beta1.HolidaySource{Name: "public-holidays"}
	listed := func(keys ...string) admission.Facts {
		return admission.Facts{Holidays: &admission.HolidaySource{Exists: true, Keys: keys}}
	}
	closed := office(withHolidays(v1beta1.HolidayClosed, source))
	checkWarnings(t, map[string]warningCase{
		"not looked up":     {obj: closed},
		"holidays to come":  {obj: closed, facts: listed("2026-01-01", "2026-12-25")},
		"a holiday today":   {obj: closed, facts: listed("2026-11-21")},
		"ignored":           {obj: office(withHolidays(v1beta1.HolidayIgnore, source)), facts: listed("x")},
		"no mode":           {obj: office(withHolidays("", source)), facts: listed("x")},
		"no source":         {obj: office(withHolidays(v1beta1.HolidayOpen, nil)), facts: listed("x")},
		"no holidays field": {obj: office(), facts: listed("x")},
		"no ConfigMap": {obj: closed, facts: admission.Facts{Holidays: &admission.HolidaySource{}}, want: []string{
			`spec.holidays.sourceRef.name: there is no ConfigMap "public-holidays" in namespace "shop" yet: until there is, holidays are days like any other`}},
		"an empty ConfigMap": {obj: closed, facts: listed(), want: []string{
			`spec.holidays.sourceRef.name: ConfigMap "public-holidays" lists no holidays: add keys that are dates, such as 2026-12-25`}},
		"only past ones": {obj: closed, facts: listed("2025-12-25", "2026-11-20", "2025-12-26"), want: []string{
			`spec.holidays.sourceRef.name: the last holiday in ConfigMap "public-holidays" is 2026-11-20, which is past: add the holidays to come`}},
		"today is the zone's": {obj: office(inZone("Pacific/Kiritimati"), withHolidays(v1beta1.HolidayClosed, source)), now: november.Add(2 * time.Hour), facts: listed("2026-11-21"), want: []string{
			`spec.holidays.sourceRef.name: the last holiday in ConfigMap "public-holidays" is 2026-11-21, which is past: add the holidays to come`}},
		"keys that are no dates": {obj: closed, facts: listed("2027-02-29", "2026-12-25", "christmas"), want: []string{
			`spec.holidays.sourceRef.name: ConfigMap "public-holidays" has keys that are not dates and are ignored: 2027-02-29, christmas; a key is a date such as 2026-12-25`}},
		"many such keys": {obj: closed, facts: listed("e", "d", "c", "b", "a"), want: []string{
			`spec.holidays.sourceRef.name: ConfigMap "public-holidays" has keys that are not dates and are ignored: a, b and 3 more; a key is a date such as 2026-12-25`}},
	})
}

func TestZoneWarnings(t *testing.T) {
	checkWarnings(t, map[string]warningCase{
		"UTC":            {obj: office(inZone("UTC"))},
		"an unknown one": {obj: office(inZone("Mars/Olympus_Mons"))},
		"an old name": {obj: office(inZone("US/Eastern")), want: []string{
			"spec.timezone: US/Eastern is an old name that is kept for old programs: use America/New_York"}},
		"a renamed city": {obj: office(inZone("Asia/Calcutta")), want: []string{
			"spec.timezone: Asia/Calcutta is an old name that is kept for old programs: use Asia/Kolkata"}},
		"behind UTC": {obj: office(inZone("Etc/GMT+5")), want: []string{
			"spec.timezone: Etc/GMT+5 is 5 h behind UTC, all year: in these names the sign is reversed; to follow the clocks of a place, use its zone, such as Europe/Berlin"}},
		"ahead of UTC": {obj: office(inZone("Etc/GMT-14")), want: []string{
			"spec.timezone: Etc/GMT-14 is 14 h ahead of UTC, all year: in these names the sign is reversed; to follow the clocks of a place, use its zone, such as Europe/Berlin"}},
		"winter time for ever": {obj: office(inZone("EST")), want: []string{
			"spec.timezone: EST is UTC-05:00 all year, without daylight saving time: to follow the clocks of a place, use its zone, such as America/New_York"}},
	})
}
