package api

import (
	"slices"
	"strings"
	"testing"
)

const officeHours = `
apiVersion: kyklos.io/v1alpha1
kind: TimeWindowScaler
metadata: {name: office, namespace: shop}
spec:
  targetRef: {kind: Deployment, name: web}
  timezone: Europe/Berlin
  windows:
  - days: [Mon, Tue, Wed, Thu, Fri]
    start: "09:00"
    end: "17:00"
    replicas: 5
  - {days: [Fri], start: "22:00", end: "02:00", replicas: 2}
  holidays: {mode: treat-as-closed, sourceRef: {name: public-holidays}}
`

func v1alpha1Validator(t *testing.T) validator {
	return newValidator(t, "timewindowscalers.kyklos.io", "v1alpha1")
}

func TestV1alpha1Defaults(t *testing.T) {
	obj := object(t, officeHours, "mode: treat-as-closed, ", "")
	if errs := v1alpha1Validator(t).create(t, obj); len(errs) > 0 {
		t.Fatal(errs)
	}
	spec := obj["spec"].(map[string]any)
	for field, want := range map[string]any{"defaultReplicas": int64(0), "gracePeriodSeconds": int64(0), "pause": false} {
		if spec[field] != want {
			t.Errorf("%s is %v, want %v", field, spec[field], want)
		}
	}
	if got := spec["targetRef"].(map[string]any)["apiVersion"]; got != "apps/v1" {
		t.Errorf("targetRef.apiVersion is %v", got)
	}
	if got := spec["holidays"].(map[string]any)["mode"]; got != "ignore" {
		t.Errorf("holidays.mode is %v", got)
	}
}

func TestV1alpha1Accepts(t *testing.T) {
	validator := v1alpha1Validator(t)
	for name, edit := range map[string][]string{
		"as it is":                  nil,
		"UTC":                       {"Europe/Berlin", "UTC"},
		"a zone of three parts":     {"Europe/Berlin", "America/Argentina/Buenos_Aires"},
		"a zone with a sign":        {"Europe/Berlin", "Etc/GMT+5"},
		"an old zone name":          {"Europe/Berlin", "US/Eastern"},
		"the first minute":          {`start: "09:00"`, `start: "00:00"`},
		"the last minute":           {`end: "17:00"`, `end: "23:59"`},
		"no replicas":               {"replicas: 5", "replicas: 0"},
		"a dotted name":             {"name: web", "name: web.v2"},
		"ignored, and no ConfigMap": {"{mode: treat-as-closed, sourceRef: {name: public-holidays}}", "{mode: ignore}"},
	} {
		t.Run(name, func(t *testing.T) {
			if errs := validator.create(t, object(t, officeHours, edit...)); len(errs) > 0 {
				t.Error(errs)
			}
		})
	}
}

func TestV1alpha1Refuses(t *testing.T) {
	validator := v1alpha1Validator(t)
	const zoneRule = "must be an IANA time zone name such as Europe/Berlin, Asia/Kolkata or UTC; empty, Local and offsets are not allowed"
	for name, tc := range map[string]struct {
		edit []string
		want []string
	}{
		"an equal start and end": {[]string{`end: "17:00"`, `end: "09:00"`},
			[]string{"spec.windows[0].end: Invalid value: Invalid window: start must not equal end; for a whole day use two windows, 00:00-12:00 and 12:00-00:00"}},
		"an hour that is none":       {[]string{`start: "09:00"`, `start: "24:00"`}, []string{"spec.windows[0].start: Invalid value: must be a time of day as HH:MM from 00:00 to 23:59, such as 09:00"}},
		"a time without a zero":      {[]string{`start: "09:00"`, `start: "9:00"`}, []string{"spec.windows[0].start"}},
		"the end of the day":         {[]string{`end: "17:00"`, `end: "24:00"`}, []string{"spec.windows[0].end: Invalid value: must be a time of day as HH:MM from 00:00 to 23:59, such as 17:00"}},
		"a time with a newline":      {[]string{`end: "17:00"`, `end: "17:00\n"`}, []string{"spec.windows[0].end"}},
		"both times":                 {[]string{`start: "09:00"`, `start: nine`, `end: "17:00"`, "end: five"}, []string{"spec.windows[0].start", "spec.windows[0].end"}},
		"another kind":               {[]string{"kind: Deployment", "kind: StatefulSet"}, []string{"spec.targetRef.kind: Invalid value: must be Deployment: v1alpha1 supports no other kinds; use v1beta1"}},
		"another API version":        {[]string{"{kind: Dep", "{apiVersion: apps/v1beta1, kind: Dep"}, []string{"spec.targetRef.apiVersion: Invalid value: must be apps/v1, the API version of Deployment"}},
		"an impossible name":         {[]string{"name: web", "name: Web_1"}, []string{"spec.targetRef.name: Invalid value: must be a valid Deployment name"}},
		"an empty name":              {[]string{"name: web", `name: ""`}, []string{"spec.targetRef.name"}},
		"a holiday mode alone":       {[]string{", sourceRef: {name: public-holidays}", ""}, []string{"spec.holidays.sourceRef: Required value: must name the ConfigMap that lists the holidays, unless mode is ignore"}},
		"no zone":                    {[]string{"Europe/Berlin", `""`}, []string{`spec.timezone: Invalid value: "": ` + zoneRule}},
		"Local":                      {[]string{"Europe/Berlin", "Local"}, []string{zoneRule}},
		"an offset":                  {[]string{"Europe/Berlin", `"+02:00"`}, []string{zoneRule}},
		"a path":                     {[]string{"Europe/Berlin", "../Europe/Berlin"}, []string{zoneRule}},
		"a path to a zone":           {[]string{"Europe/Berlin", "Europe/./Berlin"}, []string{zoneRule}},
		"no name of a ConfigMap":     {[]string{"{name: public-holidays}", `{name: "Not A ConfigMap/.."}`}, []string{"spec.holidays.sourceRef.name: Invalid value: must be a valid ConfigMap name"}},
		"the machine's zone":         {[]string{"Europe/Berlin", "localtime"}, []string{zoneRule}},
		"a zone with leap seconds":   {[]string{"Europe/Berlin", "right/Europe/Berlin"}, []string{zoneRule}},
		"a zone of Mars":             {[]string{"Europe/Berlin", "Mars/Olympus_Mons"}, []string{"unknown time zone Mars/Olympus_Mons"}},
		"a negative number":          {[]string{"replicas: 5", "replicas: -1"}, []string{"spec.windows[0].replicas"}},
		"a day that is none":         {[]string{"[Fri]", "[Friday]"}, []string{`spec.windows[1].days[0]: Unsupported value: "Friday"`}},
		"a day twice":                {[]string{"[Fri]", "[Fri, Fri]"}, []string{`spec.windows[1].days[1]: Duplicate value: "Fri"`}},
		"a window without days":      {[]string{"[Fri]", "[]"}, []string{"spec.windows[1].days"}},
		"a ConfigMap without a name": {[]string{"{name: public-holidays}", `{name: ""}`}, []string{"spec.holidays.sourceRef.name"}},
	} {
		t.Run(name, func(t *testing.T) {
			mustRefuse(t, validator.create(t, object(t, officeHours, tc.edit...)), tc.want...)
		})
	}
}

// A hundred windows are the maximum, and the rules can handle them.
func TestV1alpha1BoundsTheWindows(t *testing.T) {
	validator := v1alpha1Validator(t)
	withWindows := func(count int) map[string]any {
		obj := object(t, officeHours)
		spec := obj["spec"].(map[string]any)
		spec["windows"] = slices.Repeat(spec["windows"].([]any)[:1], count)
		return obj
	}
	if errs := validator.create(t, withWindows(100)); len(errs) > 0 {
		t.Error(errs)
	}
	mustRefuse(t, validator.create(t, withWindows(101)), "spec.windows: Too many: 101: must have at most 100 items")
	mustRefuse(t, validator.create(t, withWindows(0)), "spec.windows: Invalid value")
	mustRefuse(t, validator.create(t, object(t, officeHours, "Europe/Berlin", strings.Repeat("A", 65))), "spec.timezone: Too long")
}

// An object with a time zone that this API server does not know, written by one that did, can still be changed, and so
// can its status. The zone itself can only be changed to a known one (A4).
func TestV1alpha1RatchetsTheZone(t *testing.T) {
	validator := v1alpha1Validator(t)
	for _, zone := range []string{"Mars/Olympus_Mons", `"+02:00"`, "Local", `""`, "Europe/./Berlin"} {
		t.Run(zone, func(t *testing.T) {
			stored := func(edit ...string) map[string]any {
				return object(t, officeHours, append([]string{"Europe/Berlin", zone}, edit...)...)
			}
			if errs := validator.create(t, stored()); len(errs) != 1 {
				t.Errorf("on create: %v", errs)
			}
			if errs := validator.update(t, stored("replicas: 5", "replicas: 6"), stored()); len(errs) > 0 {
				t.Errorf("with another change: %v", errs)
			}
			if errs := validator.update(t, object(t, officeHours), stored()); len(errs) > 0 {
				t.Errorf("to a known zone: %v", errs)
			}
			if errs := validator.update(t, stored(), object(t, officeHours)); len(errs) != 1 {
				t.Errorf("from a known zone: %v", errs)
			}
			if errs := validator.update(t, object(t, officeHours, "Europe/Berlin", "Venus/Maxwell_Montes"), stored()); len(errs) != 1 {
				t.Errorf("to another unknown zone: %v", errs)
			}
		})
	}
}

// The name of a ConfigMap that was stored before there was a rule for it stays until it is changed.
func TestV1alpha1RatchetsTheConfigMap(t *testing.T) {
	validator := v1alpha1Validator(t)
	stored := func(edit ...string) map[string]any {
		return object(t, officeHours, append([]string{"{name: public-holidays}", `{name: "Not A ConfigMap/.."}`}, edit...)...)
	}
	if errs := validator.update(t, stored("replicas: 5", "replicas: 6"), stored()); len(errs) > 0 {
		t.Errorf("unchanged: %v", errs)
	}
	mustRefuse(t, validator.update(t, stored(), object(t, officeHours)), "spec.holidays.sourceRef.name")
}

// The rules for the atomic list of windows run whenever the list changes, and not while it is unchanged.
func TestV1alpha1RatchetsTheWindows(t *testing.T) {
	validator := v1alpha1Validator(t)
	broken := []string{`end: "17:00"`, `end: "09:00"`}
	old := object(t, officeHours, broken...)
	if errs := validator.update(t, object(t, officeHours, append(broken, "name: web", "name: api")...), old); len(errs) > 0 {
		t.Errorf("windows unchanged: %v", errs)
	}
	mustRefuse(t, validator.update(t, object(t, officeHours, append(broken, "replicas: 2", "replicas: 3")...), old), "spec.windows[0].end")
}
