package ruleset

import (
	"strings"
	"testing"
)

// replacing has the set replace what files say.
func replacing(t *testing.T, files ...string) func(*Options) {
	t.Helper()
	old := setOf(t, files...)
	return func(o *Options) { o.Old = old }
}

// What was wrong before and is left as it was is not refused, as the webhook and the API server have it.
func TestUpdates(t *testing.T) {
	t.Parallel()
	older := func(text string) string { return strings.Replace(text, "v1beta1", "v1alpha1", 1) }
	zoned := strings.Replace(scaler("office", "web"), "replicas: 10}]", "replicas: 10, timezone: Europe/Berlin}]", 1)
	longer := strings.Replace(scaler("office", "web"), "17:00", "18:00", 1)
	workspace := "apiVersion: kyklos.io/v1alpha1\nkind: Workspace\nmetadata: {namespace: shop, name: ada}\nspec:\n  image: a\n  storage: {size: 9Gi}\n"
	for name, tc := range map[string]struct {
		old, files []string
		want       []string
	}{
		"nothing changes, and nothing is asked": {
			old:   []string{strings.Replace(scaler("office", "web"), "Asia/Kolkata", "EST", 1)},
			files: []string{strings.Replace(scaler("office", "web"), "Asia/Kolkata", "EST", 1)},
		},
		"new fields are checked": {
			files: []string{strings.Replace(scaler("office", "web"), "Asia/Kolkata", "EST", 1)},
			want: []string{"a.yaml:10:13 warning warned spec.timezone: EST is UTC-05:00 all year, without daylight saving time: " +
				"to follow local clocks, use the zone of a place, such as America/New_York"},
		},
		"a value that was wrong before": {
			old:   []string{strings.Replace(scaler("office", "web"), "days: [Mon]", "days: [mon]", 1)},
			files: []string{strings.Replace(scaler("office", "web"), "days: [Mon]", "days: [mon]", 1)},
		},
		"a target that two had before, of which one changes": {
			old:   []string{scaler("office", "web"), scaler("night", "web")},
			files: []string{longer, scaler("night", "web")},
			want: []string{`a.yaml:9:11 warning target-shared spec.targetRef.name: TimeWindowScaler "night" has the same target Deployment "web": ` +
				`only one of the two scales it, and the other does nothing (b.yaml:5)`},
		},
		"a target that another one had before": {
			old:   []string{scaler("office", "api"), scaler("night", "web")},
			files: []string{scaler("office", "web"), scaler("night", "web")},
			want:  []string{"a.yaml:9:11 error target-shared spec.targetRef.name: " + sharedBy("night", " (b.yaml:5)")},
		},
		"two targets exchanged": {
			old:   []string{scaler("office", "web"), scaler("night", "api")},
			files: []string{scaler("office", "api"), scaler("night", "web")},
		},
		"what went away": {old: []string{scaler("office", "web"), scaler("night", "web")}, files: []string{scaler("office", "web")}},
		"applied in the older version, which cannot say all": {
			old:   []string{zoned},
			files: []string{older(longer)},
			want:  []string{deprecated("a.yaml")},
		},
		"the annotation of the older version broken": {
			old:   []string{zoned},
			files: []string{strings.Replace(older(longer), "  name: office", "  name: office\n  annotations: {kyklos.io/v1beta1-spec: gone}", 1)},
			want: []string{deprecated("a.yaml"), "a.yaml:13:13 error refused spec.windows[0].timezone: Forbidden: would be lost: v1alpha1 does not have this field, " +
				"and annotation kyklos.io/v1beta1-spec no longer preserves it; leave the annotation as it is, or use kyklos.io/v1beta1"},
		},
		"a volume cannot shrink": {
			old:   []string{workspace + "status: {phase: STANDBY}\n"},
			files: []string{strings.Replace(workspace, "9Gi", "5Gi", 1)},
			want:  []string{"a.yaml:6:19 error invalid spec.storage.size: Forbidden: must not shrink while the home is on its volume: archive it first, with desiredState PENDING, and then change this"},
		},
		"what has no volume can": {
			old:   []string{workspace},
			files: []string{strings.Replace(workspace, "9Gi", "5Gi", 1)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, lintFiles(t, tc.files, replacing(t, tc.old...)), tc.want...)
		})
	}
}

// deprecated is what an API server warns of for a manifest of the older version.
func deprecated(file string) string {
	return file + ":1:1 warning warned : kyklos.io/v1alpha1 TimeWindowScaler is deprecated; use kyklos.io/v1beta1, to which kyklos convert rewrites files"
}
