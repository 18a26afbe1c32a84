package ruleset

import (
	"strings"
	"testing"

	"kyklos.io/kyklos/cli/lint"
)

// text has lines of the scaler that tests change: 3 metadata, 6 targetRef, 9 timezone, 10 windows, 11 the first window.
const text = `apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata:
  name: office
spec:
  targetRef:
    kind: Deployment
    name: web
  timezone: Asia/Kolkata
  windows:
  - days: [Mon]
    start: "09:00"
    end: "17:00"
    replicas: 10
  defaultReplicas: 0
`

// What the API server says in words of Go, or not at all, is said so that one knows what to write.
func TestWording(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edits []string
		want  []string
	}{
		"no dash": {[]string{"  - days", "    days"}, []string{`10:3 error invalid spec.windows: must be a list: begin each window with "- "`}},
		"no dashes": {[]string{"  - days", "    days", "replicas: 10\n", "replicas: 10\n    days: [Sat]\n    start: \"10:00\"\n"},
			[]string{`10:3 error invalid spec.windows: must be a list: begin each window with "- "`}},
		"no brackets": {[]string{"  windows:\n  - days: [Mon]\n    start: \"09:00\"\n    end: \"17:00\"\n    replicas: 10\n", "  windows: {days: [Mon], replicas: 1}\n"},
			[]string{`10:3 error invalid spec.windows: must be a list: write [ ] around it`}},
		"windows by name": {[]string{"  - days", "    office:\n     days", "    start", "     start", "    end", "     end", "    replicas", "     replicas"},
			[]string{`10:3 error invalid spec.windows: must be a list: begin each window with "- "`}},
		"days by name": {[]string{"[Mon]", "{Mon: true}"}, []string{`11:5 error invalid spec.windows[0].days: must be a list, not an object`}},
		"a dash too many": {[]string{"    kind: D", "  - kind: D"},
			[]string{`6:3 error invalid spec.targetRef: must be an object, not a list: write it without "- "`}},
		"brackets too many": {[]string{"  targetRef:\n    kind: Deployment\n    name: web\n", "  targetRef: [{kind: Deployment, name: web}]\n"},
			[]string{`6:3 error invalid spec.targetRef: must be an object, not a list: write it without [ ]`}},
		"two dashes":             {[]string{"  - days", "  - - days", "    start", "      start", "    end", "      end", "    replicas", "      replicas"}, []string{`11:5 error invalid spec.windows[0]: must be an object, not a list: write "- " once`}},
		"an object for a string": {[]string{"Asia/Kolkata", "{name: Asia/Kolkata}"}, []string{`9:3 error invalid spec.timezone: must be a string, not an object`}},
		"and an unknown field": {[]string{"  - days", "    days", "timezone", "colour: red\n  timezone"},
			[]string{`9:3 error unknown-field spec.colour: unknown field`, `11:3 error invalid spec.windows: must be a list: begin each window with "- "`}},

		"labels that are numbers": {[]string{"name: office", "name: office\n  labels:\n    app.kubernetes.io/version: 1.10\n    team: 042\n    a: yes\n    ok: b\n    none:\n  annotations: {a: 0x1F}"},
			[]string{
				`6:32 error invalid metadata.labels[app.kubernetes.io/version]: must be a string: write "1.10"`, `7:11 error invalid metadata.labels[team]: must be a string: write "042"`,
				`8:8 error invalid metadata.labels[a]: must be a string: write "yes"`, `11:20 error invalid metadata.annotations[a]: must be a string: write "0x1F"`,
			}},
		"labels that are a list":      {[]string{"name: office", "name: office\n  labels:\n  - team: a"}, []string{`5:3 error invalid metadata.labels: must be an object, not a list: write it without "- "`}},
		"labels without values":       {[]string{"name: office", "name: office\n  labels: [team]"}, []string{`5:3 error invalid metadata.labels: must be an object, not a list`}},
		"managedFields that are one":  {[]string{"name: office", "name: office\n  managedFields: me"}, []string{`5:18 error invalid metadata.managedFields: must be a list of objects`}},
		"an owner without dash":       {[]string{"name: office", "name: office\n  ownerReferences:\n    uid: a"}, []string{`5:3 error invalid metadata.ownerReferences: must be a list: begin each ownerReference with "- "`}},
		"labels that are a string":    {[]string{"name: office", "name: office\n  labels: a"}, []string{`5:11 error invalid metadata.labels: must be an object of keys and values`}},
		"a label that is an object":   {[]string{"name: office", "name: office\n  labels: {a: {b: c}}"}, []string{`5:12 error invalid metadata.labels[a]: must be a string, not an object`}},
		"a name that is a number":     {[]string{"name: office", "name: 5"}, []string{`4:9 error invalid metadata.name: must be a string: write "5"`}},
		"a namespace that is one":     {[]string{"name: office", "name: office\n  namespace: 1e3"}, []string{`5:14 error invalid metadata.namespace: must be a string: write "1e3"`}},
		"one finalizer":               {[]string{"name: office", "name: office\n  finalizers: x"}, []string{`5:15 error invalid metadata.finalizers: must be a list: write [ ] around it`}},
		"a generation in quotes":      {[]string{"name: office", "name: office\n  generation: \"7\""}, []string{`5:15 error invalid metadata.generation: must be a whole number: write 7 without quotes`}},
		"a time that is none":         {[]string{"name: office", "name: office\n  creationTimestamp: yesterday\n  labels: {a: 1}"}, []string{`5:22 error invalid metadata.creationTimestamp: must be a time such as 2026-11-22T18:00:00Z`, `6:15 error invalid metadata.labels[a]: must be a string: write "1"`}},
		"an owner":                    {[]string{"name: office", "name: office\n  ownerReferences: [{uid: 1, controller: \"true\"}]"}, []string{`5:27 error invalid metadata.ownerReferences[0].uid: must be a string: write "1"`, `5:42 error invalid metadata.ownerReferences[0].controller: must be true or false: write true without quotes`}},
		"metadata that is none":       {[]string{"metadata:\n  name: office", "metadata: office"}, []string{`3:11 error invalid metadata: must be an object of keys and values`}},
		"metadata that is not looked": {[]string{"name: office", "name: 5\n  managedFields: [{fieldsV1: [{-: 1}]}]"}, []string{`4:9 error invalid metadata.name: must be a string: write "5"`}},

		"an octal number":            {[]string{"replicas: 10", "replicas: 010"}, []string{`14:15 warning octal-number spec.windows[0].replicas: 010 is read as 8, because a leading zero makes it octal: write 10, or 8 if that is meant`}},
		"octal seconds":              {[]string{"timezone", "gracePeriodSeconds: 0600\n  timezone"}, []string{`9:23 warning octal-number spec.gracePeriodSeconds: 0600 is read as 384, because a leading zero makes it octal: write 600, or 384 if that is meant`}},
		"octal by an anchor":         {[]string{"timezone", "gracePeriodSeconds: &n 010\n  timezone", "replicas: 10", "replicas: *n"}, []string{`9:23 warning octal-number spec.gracePeriodSeconds: 010 is read as 8, because a leading zero makes it octal: write 10, or 8 if that is meant`, `15:15 warning octal-number spec.windows[0].replicas: 010 is read as 8, because a leading zero makes it octal: write 10, or 8 if that is meant`}},
		"a zero that makes no other": {[]string{"replicas: 10", "replicas: 07", "timezone", "gracePeriodSeconds: 08\n  timezone"}, nil},
		"octal on purpose":           {[]string{"replicas: 10", "replicas: 0o17"}, nil},

		"times without quotes":         {[]string{`"09:00"`, "09:00", `"17:00"`, "17:30"}, nil},
		"a short time":                 {[]string{`"09:00"`, "9:00"}, []string{`12:12 error invalid spec.windows[0].start: Invalid value: must be a time of day as HH:MM from 00:00 to 23:59, such as 09:00`}},
		"what a tool made of a time":   {[]string{`"09:00"`, "750"}, []string{schemaSkipped, `12:12 error invalid spec.windows[0].start: Invalid value: "integer": spec.windows[0].start in body must be of type string: "integer"; write a time such as "09:00" in quotes, without which some tools read 12:30 as 750`}},
		"a number that is not a time":  {[]string{`"17:00"`, "9.5"}, []string{schemaSkipped, `13:10 error invalid spec.windows[0].end: Invalid value: "number": spec.windows[0].end in body must be of type string: "number"; write a time such as "09:00" in quotes`}},
		"a number for a string":        {[]string{"Asia/Kolkata", "05"}, []string{schemaSkipped, `9:13 error invalid spec.timezone: Invalid value: "integer": spec.timezone in body must be of type string: "integer"; write "05"`}},
		"a string for a number":        {[]string{"timezone", "gracePeriodSeconds: \"60\"\n  timezone"}, []string{schemaSkipped, `9:23 error invalid spec.gracePeriodSeconds: Invalid value: "string": spec.gracePeriodSeconds in body must be of type integer: "string"; write 60 without quotes`}},
		"a string that is no number":   {[]string{"timezone", "gracePeriodSeconds: 60s\n  timezone"}, []string{schemaSkipped, `9:23 error invalid spec.gracePeriodSeconds: Invalid value: "string": spec.gracePeriodSeconds in body must be of type integer: "string"`}},
		"a string for true":            {[]string{"timezone", "pause: \"true\"\n  timezone"}, []string{schemaSkipped, `9:10 error invalid spec.pause: Invalid value: "string": spec.pause in body must be of type boolean: "string"; write true without quotes`}},
		"another version":              {[]string{"v1beta1", "v1"}, []string{`1:13 error invalid apiVersion: kyklos.io has no version v1: use kyklos.io/v1beta1`}},
		"another version of Workspace": {[]string{"TimeWindowScaler", "Workspace"}, []string{`1:13 error invalid apiVersion: Workspace has no version v1beta1: use kyklos.io/v1alpha1`}},
		"another case":                 {[]string{"TimeWindowScaler", "Timewindowscalers"}, []string{`2:7 error invalid kind: kyklos.io has no kind Timewindowscalers: use TimeWindowScaler`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			written := text
			for i := 0; i < len(tc.edits); i += 2 {
				if !strings.Contains(written, tc.edits[i]) {
					t.Fatalf("%q is not in the text", tc.edits[i])
				}
				written = strings.Replace(written, tc.edits[i], tc.edits[i+1], 1)
			}
			var want []string
			for _, finding := range tc.want {
				want = append(want, "a.yaml:"+finding)
			}
			same(t, lintFiles(t, []string{written}, nil), want...)
		})
	}
}

const schemaSkipped = "1:1 warning " + string(lint.Invalid) + " : " + rulesSkipped
