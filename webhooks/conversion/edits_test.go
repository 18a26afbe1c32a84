package conversion

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func number(n int) json.Number { return json.Number(fmt.Sprint(n)) }

// hubWith draws a hub spec whose windows have starts of their own, so that it is clear which is which.
func hubWith(t *rapid.T) map[string]any {
	count := func(label string) any {
		if rapid.Bool().Draw(t, label+" as percentage") {
			return fmt.Sprintf("%d%%", rapid.IntRange(0, 300).Draw(t, label))
		}
		return number(rapid.IntRange(0, 30).Draw(t, label))
	}
	windows := []any{}
	for i := range rapid.IntRange(1, 6).Draw(t, "windows") {
		window := map[string]any{"days": []any{"Mon"}, "start": fmt.Sprintf("0%d:00", i), "replicas": count("replicas"),
			"end": rapid.SampledFrom([]string{"17:00", "24:00"}).Draw(t, "end")}
		if rapid.Bool().Draw(t, "named") {
			window["name"] = fmt.Sprintf("w%d", i)
		}
		if rapid.Bool().Draw(t, "zoned") {
			window["timezone"] = "Asia/Kolkata"
		}
		if rapid.Bool().Draw(t, "metric") {
			window["metric"] = map[string]any{"name": "queue", "later": true}
		}
		windows = append(windows, window)
	}
	spec := map[string]any{
		"targetRef": map[string]any{"kind": "Deployment", "name": "web", "later": true}, "timezone": "UTC", "baselineReplicas": number(10),
		"defaultReplicas": count("default"), "windows": windows, "later": []any{number(1)},
	}
	if rapid.Bool().Draw(t, "holidays") {
		spec["holidays"] = map[string]any{"mode": "ignore", "later": "x"}
	}
	return spec
}

// edit changes spec the same way in either version: it says what a client of v1alpha1 can say.
type edit func(spec map[string]any)

func windowsOf(spec map[string]any) []any { return spec["windows"].([]any) }

// drawEdit draws an edit; each sets what it sets to something new.
func drawEdit(t *rapid.T, size int) edit {
	i, j := rapid.IntRange(0, size-1).Draw(t, "i"), rapid.IntRange(0, size-1).Draw(t, "j")
	set := func(name string, value any) edit {
		return func(spec map[string]any) { windowsOf(spec)[i].(map[string]any)[name] = value }
	}
	edits := []edit{
		func(map[string]any) {},
		func(spec map[string]any) { spec["timezone"] = "Europe/Berlin" },
		func(spec map[string]any) { spec["defaultReplicas"] = number(77) },
		func(spec map[string]any) { spec["pause"] = true },
		func(spec map[string]any) { delete(spec, "defaultReplicas") },
		func(spec map[string]any) { delete(spec, "holidays") },
		func(spec map[string]any) { spec["targetRef"].(map[string]any)["name"] = "api" },
		func(spec map[string]any) { delete(spec, "windows") },
		func(spec map[string]any) { spec["windows"] = []any{} },
		set("replicas", number(88)),
		set("start", "20:00"),
		set("end", "21:00"),
		set("days", []any{"Sat", "Sun"}),
		func(spec map[string]any) { spec["windows"] = slices.Delete(slices.Clone(windowsOf(spec)), i, i+1) },
		func(spec map[string]any) {
			added := map[string]any{"days": []any{"Sun"}, "start": "21:00", "end": "22:00", "replicas": number(99)}
			spec["windows"] = slices.Insert(slices.Clone(windowsOf(spec)), i, any(added))
		},
		func(spec map[string]any) { // one moves
			moved := windowsOf(spec)[i]
			spec["windows"] = slices.Insert(slices.Delete(slices.Clone(windowsOf(spec)), i, i+1), j, moved)
		},
		func(spec map[string]any) { // two swap
			swapped := slices.Clone(windowsOf(spec))
			swapped[i], swapped[j] = swapped[j], swapped[i]
			spec["windows"] = swapped
		},
	}
	return edits[rapid.IntRange(0, len(edits)-1).Draw(t, "edit")]
}

// An edit of the v1alpha1 form does to the v1beta1 form what the same edit there would have done.
func TestEditsWinAndTheRestSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range batch {
			spec := hubWith(t)
			change := drawEdit(t, len(windowsOf(spec)))
			hub := map[string]any{"apiVersion": "kyklos.io/v1beta1", "metadata": map[string]any{}, "spec": spec}
			spoke := there(t, hub, ToV1alpha1)
			change(spoke["spec"].(map[string]any))
			got := there(t, spoke, ToV1beta1)

			want := there(t, hub)
			change(want["spec"].(map[string]any))
			if !Same(want, got) {
				t.Fatalf("(-want +got)\n%s\nedited: %s", cmp.Diff(want, got), encode(spoke["spec"]))
			}
		}
	})
}

// Several windows edited at once keep what is theirs, as long as none comes or goes.
func TestSeveralEditsAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := hubWith(t)
		hub := map[string]any{"apiVersion": "kyklos.io/v1beta1", "metadata": map[string]any{}, "spec": spec}
		spoke, want := there(t, hub, ToV1alpha1), there(t, hub)
		for i := range windowsOf(spec) {
			if rapid.Bool().Draw(t, "edited") {
				for _, o := range []map[string]any{spoke, want} {
					windowsOf(o["spec"].(map[string]any))[i].(map[string]any)["replicas"] = number(100 + i)
				}
			}
		}
		if got := there(t, spoke, ToV1beta1); !Same(want, got) {
			t.Fatalf("(-want +got)\n%s", cmp.Diff(want, got))
		}
	})
}
