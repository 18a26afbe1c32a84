package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const followTheSun = `
apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata: {name: sun, namespace: shop}
spec:
  targetRef: {kind: Deployment, name: web}
  timezone: Europe/Berlin
  baselineReplicas: 8
  defaultReplicas: 25%
  windows:
  - name: day
    days: [Mon, Tue, Wed, Thu, Fri]
    start: "09:00"
    end: "17:00"
    replicas: 150%
  - days: [Fri]
    timezone: Asia/Tokyo
    start: "22:00"
    end: "24:00"
    replicas: 2
    metric:
      name: queue_depth
      selector:
        matchLabels: {queue: mail}
        matchExpressions: [{key: example.com/tier, operator: In, values: [a, b]}]
      target: {type: AverageValue, averageValue: "30"}
      minReplicas: 2
      maxReplicas: 20
  holidays: {mode: treat-as-closed, sourceRef: {name: public-holidays}}
`

// metricOfSun is the metric of followTheSun.
const metricOfSun = `    metric:
      name: queue_depth
      selector:
        matchLabels: {queue: mail}
        matchExpressions: [{key: example.com/tier, operator: In, values: [a, b]}]
      target: {type: AverageValue, averageValue: "30"}
      minReplicas: 2
      maxReplicas: 20
`

func v1beta1Validator(t *testing.T) validator {
	return newValidator(t, "timewindowscalers.kyklos.io", "v1beta1")
}

func TestV1beta1Accepts(t *testing.T) {
	validator := v1beta1Validator(t)
	for name, edit := range map[string][]string{
		"as it is":                           nil,
		"the highest number":                 {"replicas: 150%", "replicas: 2147483647"},
		"the lowest and highest percent":     {"25%", "0%", "150%", "1000%"},
		"numbers, and no baseline":           {"25%", "2", "150%", "12", "baselineReplicas: 8\n", "pause: false\n"},
		"a whole day":                        {`start: "22:00"`, `start: "00:00"`},
		"a window named BusinessHours":       {"name: day", "name: BusinessHours"},
		"a StatefulSet":                      {"kind: Deployment", "kind: StatefulSet"},
		"a ReplicationController":            {"{kind: Deployment", "{apiVersion: v1, kind: ReplicationController"},
		"a kind of another group":            {"{kind: Deployment", "{apiVersion: argoproj.io/v1alpha1, kind: Rollout"},
		"a Workspace":                        {"{kind: Deployment", "{apiVersion: kyklos.io/v1alpha1, kind: Workspace", metricOfSun, "", "holidays:", "driftPolicy: Enforce\n  workspace: {keepArchived: true}\n  holidays:"},
		"a Workspace that is not used":       {"{kind: Deployment", "{apiVersion: kyklos.io/v1alpha1, kind: Workspace", metricOfSun, "", "holidays:", "workspace: {keepArchived: false, keepArchivedAfterDays: 365}\n  holidays:"},
		"a Workspace that is always started": {"{kind: Deployment", "{apiVersion: kyklos.io/v1alpha1, kind: Workspace", metricOfSun, "", "holidays:", "workspace: {keepArchivedAfterDays: 0}\n  holidays:"},
		"changes by others kept":             {metricOfSun, "", "holidays:", "driftPolicy: UntilBoundary\n  holidays:"},
		"changes by others corrected":        {"holidays:", "driftPolicy: Enforce\n  holidays:"},
		"a Workspace of another group":       {"{kind: Deployment", "{apiVersion: example.com/v1alpha1, kind: Workspace"},
		"a DaemonSet of another group":       {"{kind: Deployment", "{apiVersion: example.com/v1, kind: DaemonSet"},
		"the smallest target":                {`averageValue: "30"`, "averageValue: 1m"},
		"the largest target":                 {`averageValue: "30"`, "averageValue: 1P"},
		"a target with an exponent":          {`averageValue: "30"`, `averageValue: "1e3"`},
		"a metric that may go to none":       {"minReplicas: 2", "minReplicas: 0"},
		"a metric without a lowest count":    {"minReplicas: 2\n", "\n"},
		"a label without a value":            {"{queue: mail}", `{queue: ""}`},
		"a metric name with odd characters":  {"name: queue_depth", `name: "pubsub.googleapis.com|queue:depth@ns?"`},
	} {
		t.Run(name, func(t *testing.T) {
			if errs := validator.create(t, object(t, followTheSun, edit...)); len(errs) > 0 {
				t.Error(errs)
			}
		})
	}
}

// refusals are edits that v1beta1 refuses, with field and message.
var refusals = map[string]struct {
	edit []string
	want []string
}{
	"text that is no percentage":   {[]string{"150%", `"10"`}, []string{"spec.windows[0].replicas: Invalid value: \"10\": must be a number from 0 to 2147483647 without quotes, such as 10, or a percentage of baselineReplicas from 0% to 1000%, such as 150%"}},
	"a percentage too high":        {[]string{"150%", "1001%"}, []string{"spec.windows[0].replicas"}},
	"a percentage below zero":      {[]string{"150%", "-5%"}, []string{"spec.windows[0].replicas"}},
	"a percentage with a zero":     {[]string{"150%", "07%"}, []string{"spec.windows[0].replicas"}},
	"half a percent":               {[]string{"150%", "1.5%"}, []string{"spec.windows[0].replicas"}},
	"a percentage and a newline":   {[]string{"150%", `"10%\n"`}, []string{"spec.windows[0].replicas"}},
	"a number too high":            {[]string{"150%", "2147483648"}, []string{"spec.windows[0].replicas"}},
	"a number below zero":          {[]string{"150%", "-1"}, []string{"spec.windows[0].replicas"}},
	"a bad default":                {[]string{"25%", "-1"}, []string{"spec.defaultReplicas: Invalid value: -1: must be a number from 0 to 2147483647 without quotes"}},
	"a percentage of nothing":      {[]string{"baselineReplicas: 8\n", "pause: false\n"}, []string{"spec.baselineReplicas: Required value: must be set if replicas or defaultReplicas is a percentage"}},
	"a default that needs a base":  {[]string{"150%", "5", "baselineReplicas: 8\n", "pause: false\n"}, []string{"spec.baselineReplicas: Required value"}},
	"a baseline of none":           {[]string{"baselineReplicas: 8", "baselineReplicas: 0"}, []string{"spec.baselineReplicas"}},
	"the day after":                {[]string{`"24:00"`, `"24:01"`}, []string{"spec.windows[1].end: Invalid value: must be a time of day as HH:MM from 00:00 to 24:00"}},
	"a start at the end":           {[]string{`start: "09:00"`, `start: "24:00"`}, []string{"spec.windows[0].start: Invalid value: must be a time of day as HH:MM from 00:00 to 23:59"}},
	"an equal start and end":       {[]string{`start: "09:00"`, `start: "17:00"`}, []string{"spec.windows[0].end: Invalid value: Invalid window: start must not equal end; a whole day is 00:00 to 24:00"}},
	"a reserved name":              {[]string{"name: day", "name: OffHours"}, []string{"spec.windows[0].name: Invalid value: must be letters"}},
	"a name like Kyklos's own":     {[]string{"name: day", "name: Custom-a1b2c3"}, []string{"spec.windows[0].name"}},
	"an empty name":                {[]string{"name: day", `name: ""`}, []string{"spec.windows[0].name"}},
	"a name twice":                 {[]string{"- days: [Fri]", "- name: day\n    days: [Fri]"}, []string{"spec.windows: Invalid value: names of windows must be unique"}},
	"a window in Local":            {[]string{"Asia/Tokyo", "Local"}, []string{"spec.windows[1].timezone: Invalid value: must be an IANA time zone name such as Europe/Berlin, Asia/Kolkata or UTC; empty, Local and offsets are not allowed"}},
	"a window without a zone":      {[]string{"Asia/Tokyo", `""`}, []string{"spec.windows[1].timezone"}},
	"a window with an offset":      {[]string{"Asia/Tokyo", `"+02:00"`}, []string{"spec.windows[1].timezone"}},
	"a window elsewhere":           {[]string{"Asia/Tokyo", "Mars/Olympus_Mons"}, []string{"unknown time zone Mars/Olympus_Mons evaluating rule: a window's timezone must be an IANA time zone name"}},
	"no kind":                      {[]string{"kind: Deployment", `kind: ""`}, []string{"spec.targetRef.kind: Invalid value: must be a kind such as Deployment, StatefulSet or DaemonSet, starting with a capital letter"}},
	"a resource for a kind":        {[]string{"kind: Deployment", "kind: deployments.apps"}, []string{"spec.targetRef.kind"}},
	"a kind that apps has not":     {[]string{"kind: Deployment", "kind: Rollout"}, []string{"spec.targetRef.kind: Invalid value: must be Deployment, StatefulSet, DaemonSet or ReplicaSet if apiVersion is apps/v1"}},
	"an old API version":           {[]string{"{kind: Dep", "{apiVersion: apps/v1beta1, kind: Dep"}, []string{"spec.targetRef.apiVersion: Invalid value: must be apps/v1"}},
	"a group alone":                {[]string{"{kind: Dep", "{apiVersion: apps, kind: Dep"}, []string{"spec.targetRef.apiVersion: Invalid value: must be the API version of the workload"}},
	"too many slashes":             {[]string{"{kind: Dep", "{apiVersion: apps/v1/x, kind: Dep"}, []string{"spec.targetRef.apiVersion"}},
	"a Workspace by a metric":      {[]string{"{kind: Deployment", "{apiVersion: kyklos.io/v1alpha1, kind: Workspace"}, []string{"spec.windows: Forbidden: windows must not have a metric if the target is a Workspace"}},
	"two rules for the archived":   {[]string{"{kind: Deployment", "{apiVersion: kyklos.io/v1alpha1, kind: Workspace", metricOfSun, "", "holidays:", "workspace: {keepArchived: true, keepArchivedAfterDays: 7}\n  holidays:"}, []string{"spec.workspace.keepArchivedAfterDays: Forbidden: must not be set together with keepArchived: true"}},
	"days before now":              {[]string{"{kind: Deployment", "{apiVersion: kyklos.io/v1alpha1, kind: Workspace", metricOfSun, "", "holidays:", "workspace: {keepArchivedAfterDays: -1}\n  holidays:"}, []string{"spec.workspace.keepArchivedAfterDays: Invalid value: -1"}},
	"more than a year":             {[]string{"{kind: Deployment", "{apiVersion: kyklos.io/v1alpha1, kind: Workspace", metricOfSun, "", "holidays:", "workspace: {keepArchivedAfterDays: 366}\n  holidays:"}, []string{"spec.workspace.keepArchivedAfterDays: Invalid value: 366"}},
	"an unknown drift policy":      {[]string{"holidays:", "driftPolicy: Never\n  holidays:"}, []string{`spec.driftPolicy: Unsupported value: "Never": supported values: "Enforce", "UntilBoundary"`}},
	"a metric, until the boundary": {[]string{"holidays:", "driftPolicy: UntilBoundary\n  holidays:"}, []string{"spec.driftPolicy: Forbidden: must not be UntilBoundary if a window has a metric, which decides all the time; use Enforce, the default"}},
	"how to drive no Workspace":    {[]string{"holidays:", "workspace: {keepArchived: true}\n  holidays:"}, []string{"spec.workspace: Forbidden: must not be set unless the target is a Workspace"}},
	"how to drive another's":       {[]string{"{kind: Deployment", "{apiVersion: example.com/v1alpha1, kind: Workspace", "holidays:", "workspace: {}\n  holidays:"}, []string{"spec.workspace: Forbidden: must not be set unless the target is a Workspace"}},
	"a DaemonSet by a metric":      {[]string{"kind: Deployment", "kind: DaemonSet"}, []string{"spec.windows: Forbidden: windows must not have a metric if the target is a DaemonSet"}},
	"a path for a metric":          {[]string{"name: queue_depth", "name: queue/depth"}, []string{"spec.windows[1].metric.name: Invalid value: must be a metric name"}},
	"a metric with a space":        {[]string{"name: queue_depth", "name: queue depth"}, []string{"spec.windows[1].metric.name: Invalid value: must be a metric name"}},
	"a metric with a NUL":          {[]string{"name: queue_depth", `name: "queue\0depth"`}, []string{"spec.windows[1].metric.name: Invalid value: must be a metric name"}},
	"a metric with an accent":      {[]string{"name: queue_depth", "name: profondité"}, []string{"spec.windows[1].metric.name"}},
	"a percent sign in a metric":   {[]string{"name: queue_depth", "name: queue%2Fdepth"}, []string{"spec.windows[1].metric.name"}},
	"a zone by a path":             {[]string{"Europe/Berlin", "Europe/./Berlin"}, []string{"spec.timezone: Invalid value: \"Europe/./Berlin\": must be an IANA time zone name"}},
	"a zone with a dot at its end": {[]string{"Europe/Berlin", "Europe/Berlin/."}, []string{"spec.timezone"}},
	"a window's zone by a path":    {[]string{"Asia/Tokyo", "Asia/./Tokyo"}, []string{"spec.windows[1].timezone: Invalid value: must be an IANA time zone name"}},
	"no name of a ConfigMap":       {[]string{"{name: public-holidays}", `{name: "Not A ConfigMap/.."}`}, []string{"spec.holidays.sourceRef.name: Invalid value: must be a valid ConfigMap name"}},
	"a metric without a name":      {[]string{"name: queue_depth", `name: ""`}, []string{"spec.windows[1].metric.name"}},
	"a target of none":             {[]string{`averageValue: "30"`, `averageValue: "0"`}, []string{`spec.windows[1].metric.target.averageValue: Invalid value: must be a quantity from 0.001 to 1P`}},
	"a target below zero":          {[]string{`averageValue: "30"`, `averageValue: "-1"`}, []string{"spec.windows[1].metric.target.averageValue"}},
	"a target that vanishes":       {[]string{`averageValue: "30"`, `averageValue: "0.0001"`}, []string{"spec.windows[1].metric.target.averageValue"}},
	"a target beyond counting":     {[]string{`averageValue: "30"`, `averageValue: 2P`}, []string{"spec.windows[1].metric.target.averageValue"}},
	"a target that is no number":   {[]string{`averageValue: "30"`, `averageValue: many`}, []string{"spec.windows[1].metric.target.averageValue"}},
	"the other target":             {[]string{"type: AverageValue", "type: Value"}, []string{"spec.windows[1].metric.target: Invalid value: must have only value for type Value"}},
	"bounds the wrong way round":   {[]string{"minReplicas: 2", "minReplicas: 21"}, []string{"spec.windows[1].metric.maxReplicas: Invalid value: must not be below minReplicas"}},
	"a label that is none":         {[]string{"{queue: mail}", `{"a b": mail}`}, []string{"spec.windows[1].metric.selector.matchLabels: Invalid value: each key must be a label"}},
	"a label prefix with a gap":    {[]string{"{queue: mail}", `{"a..b/c": mail}`}, []string{"spec.windows[1].metric.selector.matchLabels"}},
	"a label value that is none":   {[]string{"{queue: mail}", "{queue: a b}"}, []string{"spec.windows[1].metric.selector.matchLabels: Invalid value: each value must be a label value"}},
	"a key that is no label":       {[]string{"example.com/tier", "a/b/c"}, []string{"spec.windows[1].metric.selector.matchExpressions[0].key: Invalid value: must be a label"}},
	"a value that no label has":    {[]string{"[a, b]", "[a, -b]"}, []string{"spec.windows[1].metric.selector.matchExpressions[0].values: Invalid value: must be label values"}},
	"no values to be in":           {[]string{"[a, b]", "[]"}, []string{"spec.windows[1].metric.selector.matchExpressions[0].values: Invalid value: must list at least one value"}},
	"values that do not count":     {[]string{"operator: In", "operator: Exists"}, []string{"spec.windows[1].metric.selector.matchExpressions[0].values"}},
}

func TestV1beta1Refuses(t *testing.T) {
	validator := v1beta1Validator(t)
	for name, tc := range refusals {
		t.Run(name, func(t *testing.T) {
			mustRefuse(t, validator.create(t, object(t, followTheSun, tc.edit...)), tc.want...)
		})
	}
}

// A hundred windows with zones and names, twenty of them with a metric, are the maximum, and the rules can handle them.
func TestV1beta1BoundsTheWindows(t *testing.T) {
	validator := v1beta1Validator(t)
	withWindows := func(plain, metrics int) map[string]any {
		obj := object(t, followTheSun)
		spec := obj["spec"].(map[string]any)
		windows := spec["windows"].([]any)
		list := slices.Repeat(windows[1:2], metrics)
		for i := range plain {
			list = append(list, map[string]any{"name": fmt.Sprintf("%s-%02d", strings.Repeat("n", 60), i), "timezone": "America/Argentina/ComodRivadavia",
				"days": []any{"Mon"}, "start": "00:00", "end": "24:00", "replicas": "1000%"})
		}
		spec["windows"] = list
		return obj
	}
	if errs := validator.create(t, withWindows(80, 20)); len(errs) > 0 {
		t.Error(errs)
	}
	mustRefuse(t, validator.create(t, withWindows(81, 20)), "spec.windows: Too many: 101: must have at most 100 items")
	mustRefuse(t, validator.create(t, withWindows(0, 21)), "spec.windows: Invalid value: at most 20 windows may have a metric")
}

// A window with a time zone that this API server does not know, written by one that did, blocks no write of status or
// spec, even if it moves in the list. No other unknown zone is accepted (A4).
func TestV1beta1RatchetsTheZoneOfAWindow(t *testing.T) {
	validator := v1beta1Validator(t)
	stored := func(edit ...string) map[string]any {
		return object(t, followTheSun, append([]string{"Asia/Tokyo", "Mars/Olympus_Mons"}, edit...)...)
	}
	for name, obj := range map[string]map[string]any{
		"unchanged":                  stored(),
		"another change of the spec": stored("name: web", "name: api"),
		"another change of windows":  stored("replicas: 150%", "replicas: 6"),
		"the window itself changed":  stored("replicas: 2", "replicas: 3"),
		"the zone in another window": stored("name: day", "name: day\n    timezone: Mars/Olympus_Mons"),
		"a known zone in its place":  object(t, followTheSun),
	} {
		if errs := validator.update(t, obj, stored()); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
		}
	}
	mustRefuse(t, validator.update(t, stored(), object(t, followTheSun)), "unknown time zone Mars/Olympus_Mons")
	mustRefuse(t, validator.update(t, object(t, followTheSun, "Asia/Tokyo", "Venus/Maxwell"), stored()), "unknown time zone Venus/Maxwell")
}

// An object from before a rule existed, even without a field that the rule reads, can get another finalizer or status.
// Ratcheting forgives a failed rule, but not an error of the rule.
func TestV1beta1ForgivesWhatIsUnchanged(t *testing.T) {
	validator := v1beta1Validator(t)
	for name, tc := range refusals {
		t.Run(name, func(t *testing.T) {
			if errs := validator.update(t, object(t, followTheSun, tc.edit...), object(t, followTheSun, tc.edit...)); len(errs) > 0 {
				t.Error(errs)
			}
			if tc.edit[0] == "25%" || strings.Contains(tc.want[0], "spec.baselineReplicas: Required") || strings.Contains(tc.want[0], "Forbidden") || strings.Contains(tc.want[0], "unknown time zone") {
				return // a rule of the whole spec runs whenever anything in it changes
			}
			edited := object(t, followTheSun, tc.edit...)
			edited["spec"].(map[string]any)["gracePeriodSeconds"] = int64(60)
			if errs := validator.update(t, edited, object(t, followTheSun, tc.edit...)); len(errs) > 0 {
				t.Errorf("with another field changed: %v", errs)
			}
		})
	}
	for _, line := range []string{
		"  targetRef: {kind: Deployment, name: web}\n", "kind: Deployment, ", ", name: web", "  timezone: Europe/Berlin\n",
		"    start: \"09:00\"\n", "    end: \"17:00\"\n", "    replicas: 150%\n", "    days: [Mon, Tue, Wed, Thu, Fri]\n",
		"      name: queue_depth\n", "      maxReplicas: 20\n", "type: AverageValue, ", "key: example.com/tier, ", "operator: In, ",
	} {
		if errs := validator.update(t, object(t, followTheSun, line, ""), object(t, followTheSun, line, "")); len(errs) > 0 {
			t.Errorf("without %s: %v", line, errs)
		}
	}
	none := object(t, followTheSun)
	delete(none["spec"].(map[string]any), "windows")
	if errs := validator.update(t, none, none); len(errs) > 0 {
		t.Errorf("without windows: %v", errs)
	}
}
