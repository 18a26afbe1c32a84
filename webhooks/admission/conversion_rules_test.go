package admission

import (
	"strings"
	"testing"

	"kyklos.io/kyklos/webhooks/conversion"
)

// shownAs is an object of v1beta1 as v1alpha1 shows it.
func shownAs(t *testing.T, hub string) string {
	t.Helper()
	spoke, err := conversion.ToV1alpha1([]byte(hub))
	if err != nil {
		t.Fatal(err)
	}
	return string(spoke)
}

// A write in v1alpha1 is judged as what it stores. Each refusal names the field, and what would be right.
func TestWritesInV1alpha1(t *testing.T) {
	named := strings.Replace(stored, `"replicas":5`, `"replicas":5,"name":"day","timezone":"Asia/Kolkata"`, 1)
	rich := strings.Replace(strings.Replace(named, `"replicas":5`, `"replicas":"50%"`, 1), `"pause":false`, `"pause":false,"baselineReplicas":10`, 1)
	workspace := strings.Replace(strings.Replace(stored, `"apiVersion":"apps/v1","kind":"Deployment"`, `"apiVersion":"kyklos.io/v1alpha1","kind":"Workspace"`, 1),
		`"pause":false`, `"pause":false,"driftPolicy":"Enforce","workspace":{"keepArchived":true}`, 1)
	const (
		annotation = `"kyklos.io/v1beta1-spec"`
		end        = "; leave the annotation as it is, or use kyklos.io/v1beta1"
	)
	const damaged = "metadata.annotations[kyklos.io/v1beta1-spec]: Forbidden: it cannot be read, so what it preserves would be lost; copy it whole, or leave it out to do without what v1alpha1 does not have"
	without := func(hub string) string { return strings.Replace(shownAs(t, hub), annotation, `"other"`, 1) }
	for name, tc := range map[string]struct {
		obj, old string
		want     string // the end of the refusal, "" for none
	}{
		"a create":                      {shownAs(t, stored), "", ""},
		"a restore":                     {shownAs(t, rich), "", ""},
		"an edit":                       {strings.Replace(shownAs(t, rich), `"pause":false`, `"pause":true`, 1), shownAs(t, rich), ""},
		"an edit of a percentage":       {strings.Replace(shownAs(t, rich), `"replicas":5`, `"replicas":7`, 1), shownAs(t, rich), ""},
		"nothing to lose":               {strings.Replace(stored, "09:00", "10:00", 1), stored, ""},
		"one field lost":                {without(strings.Replace(named, `"name":"day",`, "", 1)), shownAs(t, strings.Replace(named, `"name":"day",`, "", 1)), "spec.windows[0].timezone: Forbidden: would be lost: v1alpha1 does not have this field, and annotation kyklos.io/v1beta1-spec no longer preserves it" + end},
		"two fields lost":               {without(named), shownAs(t, named), "spec.windows[0].name: Forbidden: would be lost, with 1 more field: v1alpha1 does not have these fields, and annotation kyklos.io/v1beta1-spec no longer preserves them" + end},
		"four fields lost":              {without(rich), shownAs(t, rich), "spec.baselineReplicas: Forbidden: would be lost, with 3 more fields: v1alpha1 does not have these fields, and annotation kyklos.io/v1beta1-spec no longer preserves them" + end},
		"a field changed":               {strings.Replace(shownAs(t, named), "Kolkata", "Tokyo", 1), shownAs(t, named), "spec.windows[0].timezone: Forbidden: would be set by annotation kyklos.io/v1beta1-spec: v1alpha1 does not have this field" + end},
		"another window instead":        {strings.NewReplacer(`"09:00"`, `"19:00"`, `"17:00"`, `"23:00"`, `"replicas":5`, `"replicas":6`).Replace(shownAs(t, named)), shownAs(t, named), `spec.windows[0]: Forbidden: it is not clear what became of window "day", and v1alpha1 does not show all of it; change, move or delete one window at a time, or use kyklos.io/v1beta1`},
		"a create that v1beta1 refuses": {shownAs(t, strings.Replace(named, `"day"`, `"OffHours"`, 1)), "", "spec.windows[0].name: Invalid value: must be letters, digits, '-', '_' and '.', starting and ending with a letter or digit; OffHours, Holiday and names starting with Custom- are reserved; change it in kyklos.io/v1beta1, in which the object is stored"},
		"what v1beta1 refused before":   {strings.Replace(shownAs(t, strings.Replace(named, `"day"`, `"OffHours"`, 1)), `"pause":false`, `"pause":true`, 1), shownAs(t, strings.Replace(named, `"day"`, `"OffHours"`, 1)), ""},
		"a Workspace no more":           {strings.Replace(shownAs(t, workspace), `"apiVersion":"kyklos.io/v1alpha1","kind":"Workspace"`, `"apiVersion":"apps/v1","kind":"Deployment"`, 1), shownAs(t, workspace), "spec.workspace: Forbidden: must not be set unless the target is a Workspace of kyklos.io/v1alpha1; change it in kyklos.io/v1beta1, in which the object is stored"},
		"a create with a damaged one":   {strings.Replace(shownAs(t, named), `}}"`, `}"`, 1), "", damaged},
		"a create with no JSON":         {strings.Replace(stored, `"metadata":{`, `"metadata":{"annotations":{`+annotation+`:""},`, 1), "", damaged},
		"an annotation of one's own":    {strings.Replace(stored, `"metadata":{`, `"metadata":{"annotations":{`+annotation+`:"mine"},`, 1), stored, ""},
		"a marker of one's own":         {`{"apiVersion":"kyklos.io/v1alpha1","kind":"TimeWindowScaler","metadata":{"annotations":{` + annotation + `:"{\"cut\":true}"}},"spec":{}}`, "", "metadata.annotations: Forbidden: " + conversion.ErrCut.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			response, _ := handle(t, newV1alpha1Validator(cluster{objects: quiet(t)}.validator(t)), request(tc.obj, tc.old))
			message := ""
			if !response.Allowed {
				message = response.Result.Message
			}
			if response.Allowed != (tc.want == "") || !strings.HasSuffix(message, tc.want) || !response.Allowed && response.Result.Code != 422 {
				t.Errorf("got  %v %q\nwant %q", response.Allowed, message, tc.want)
			}
		})
	}
}

// The rules for v1beta1 apply to what passes, and count it once.
func TestRulesApplyInV1alpha1(t *testing.T) {
	elsewhere := shownAs(t, strings.Replace(stored, `"namespace":"shop"},`, `"namespace":"back"},`, 1))
	response, result := handle(t, newV1alpha1Validator(cluster{objects: quiet(t)}.validator(t)), request(elsewhere, ""))
	if response.Allowed || result != "create denied" || !strings.Contains(response.Result.Message, "spec.targetRef.namespace") {
		t.Errorf("%q %v", result, response.Result)
	}
	lost := strings.Replace(stored, `"replicas":5`, `"replicas":5,"name":"day"`, 1)
	if response, result := handle(t, newV1alpha1Validator(cluster{}.validator(t)), request(stored, shownAs(t, lost))); response.Allowed || result != "update denied" {
		t.Errorf("%q %v", result, response.Result)
	}
}
