package admission_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
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

func rivals(r ...*v1beta1.TimeWindowScaler) admission.Facts {
	var all []v1beta1.TimeWindowScaler
	for _, s := range r {
		all = append(all, *s)
	}
	return admission.Facts{Owner: targetkind.Owner(all, r[0].Spec.TargetRef)}
}

func TestValidate(t *testing.T) {
	older, younger := rival("night", -time.Hour, "z"), rival("batch", time.Hour, "a")
	checkCases(t, map[string]findingsCase{
		"nothing wrong":                           {obj: office()},
		"namespace left out":                      {obj: office(withTarget("", "web"))},
		"another namespace":                       {obj: office(withTarget("back", "web")), want: []string{"target-namespace spec.targetRef.namespace: Invalid value"}},
		"in a file, without a namespace":          {obj: office(withTarget("back", "web"), func(o *v1beta1.TimeWindowScaler) { o.Namespace = "" })},
		"target owned by an older one":            {obj: office(), facts: rivals(younger, older), want: []string{"target-shared spec.targetRef.name: Duplicate value"}},
		"target owned, by one of the same second": {obj: office(), facts: rivals(rival("noon", 0, "b"), rival("night", 0, "a")), want: []string{"target-shared spec.targetRef.name: Duplicate value"}},
		"an update to another namespace":          {obj: office(withTarget("back", "web")), old: office(), want: []string{"target-namespace spec.targetRef.namespace: Invalid value"}},
		"an update to an owned target":            {obj: office(), old: office(withTarget("shop", "api")), facts: rivals(older), want: []string{"target-shared spec.targetRef.name: Duplicate value"}},
		"an update to a target that a younger one has": {obj: office(), old: office(withTarget("shop", "api")),
			facts: rivals(rival("night", time.Hour, "a")), want: []string{
				"target-shared spec.targetRef.name: Duplicate value",
			}},
		"a conflict from before the update":  {obj: office(inZone("UTC")), old: office(), facts: rivals(older), want: []string{"target-shared spec.targetRef.name"}},
		"and the namespace is filled in now": {obj: office(), old: office(withTarget("", "web")), facts: rivals(older), want: []string{"target-shared spec.targetRef.name"}},
		"a namespace from before the update": {obj: office(withTarget("back", "web"), inZone("UTC")), old: office(withTarget("back", "web")), want: []string{"target-namespace spec.targetRef.namespace"}},
	})
}

func TestTargetWarnings(t *testing.T) {
	checkCases(t, map[string]findingsCase{
		"nothing to say":           {obj: office()},
		"no target yet":            {obj: office(), facts: admission.Facts{TargetMissing: true}, want: []string{"target-missing spec.targetRef.name"}},
		"a controller":             {obj: office(), facts: admission.Facts{Controller: &metav1.OwnerReference{Kind: "App", Name: "web"}}, want: []string{"target-controlled spec.targetRef.name"}},
		"an autoscaler":            {obj: office(), facts: admission.Facts{Autoscalers: []string{"web"}}, want: []string{"target-autoscaled spec.targetRef.name"}},
		"autoscalers in any order": {obj: office(), facts: admission.Facts{Autoscalers: []string{"web-b", "web-a"}}, want: []string{"target-autoscaled spec.targetRef.name"}},
		"a refused object is not warned about the refusal": {obj: office(), facts: rivals(rival("night", -time.Hour, "z")), want: []string{"target-shared spec.targetRef.name: Duplicate value"}},
		"an old conflict with an older one":                {obj: office(), old: office(inZone("UTC")), facts: rivals(rival("night", -time.Hour, "z")), want: []string{"target-shared spec.targetRef.name"}},
		"an old conflict with a younger one":               {obj: office(), old: office(inZone("UTC")), facts: rivals(rival("night", time.Hour, "a")), want: []string{"target-shared spec.targetRef.name"}},
		"an old conflict in one second, larger UID":        {obj: office(), old: office(inZone("UTC")), facts: rivals(rival("night", 0, "a")), want: []string{"target-shared spec.targetRef.name"}},
		"an old conflict in one second, smaller UID":       {obj: office(), old: office(inZone("UTC")), facts: rivals(rival("night", 0, "z")), want: []string{"target-shared spec.targetRef.name"}},
		"an old target in another namespace": {obj: office(withTarget("back", "web")), old: office(withTarget("back", "web"), inZone("UTC")),
			facts: admission.Facts{TargetMissing: true}, want: []string{
				"target-namespace spec.targetRef.namespace",
			}},
		"a long name": {obj: office(withTarget("shop", "a-very-long-name-of-a-workload-that-fills-a-line")), facts: admission.Facts{TargetMissing: true}, want: []string{
			"target-missing spec.targetRef.name",
		}},
	})
}

func TestHolidayWarnings(t *testing.T) {
	source := &v1beta1.HolidaySource{Name: "public-holidays"}
	listed := func(keys ...string) admission.Facts {
		return admission.Facts{Holidays: &admission.HolidaySource{Exists: true, Keys: keys}}
	}
	closed := office(withHolidays(v1beta1.HolidayClosed, source))
	checkCases(t, map[string]findingsCase{
		"not looked up":      {obj: closed},
		"holidays to come":   {obj: closed, facts: listed("2026-01-01", "2026-12-25")},
		"a holiday today":    {obj: closed, facts: listed("2026-11-21")},
		"ignored":            {obj: office(withHolidays(v1beta1.HolidayIgnore, source)), facts: listed("x")},
		"no mode":            {obj: office(withHolidays("", source)), facts: listed("x")},
		"no source":          {obj: office(withHolidays(v1beta1.HolidayOpen, nil)), facts: listed("x")},
		"no holidays field":  {obj: office(), facts: listed("x")},
		"no ConfigMap":       {obj: closed, facts: admission.Facts{Holidays: &admission.HolidaySource{}}, want: []string{"holidays spec.holidays.sourceRef.name"}},
		"an empty ConfigMap": {obj: closed, facts: listed(), want: []string{"holidays spec.holidays.sourceRef.name"}},
		"only past ones":     {obj: closed, facts: listed("2025-12-25", "2026-11-20", "2025-12-26"), want: []string{"holidays spec.holidays.sourceRef.name"}},
		"today is the zone's": {obj: office(inZone("Pacific/Kiritimati"), withHolidays(v1beta1.HolidayClosed, source)), now: november.Add(2 * time.Hour), facts: listed("2026-11-21"), want: []string{
			"holidays spec.holidays.sourceRef.name",
		}},
		"keys that are no dates": {obj: closed, facts: listed("2027-02-29", "2026-12-25", "christmas"), want: []string{"holidays spec.holidays.sourceRef.name"}},
		"many such keys":         {obj: closed, facts: listed("e", "d", "c", "b", "a"), want: []string{"holidays spec.holidays.sourceRef.name"}},
	})
}
