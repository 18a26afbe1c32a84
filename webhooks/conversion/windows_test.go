package conversion

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tracked is a window in the hands of a v1alpha1 client.
type tracked struct {
	window map[string]any
	origin int             // its index in the stored list, -1 for a new one
	edited map[string]bool // its fields
}

// editor is a v1alpha1 client that edits windows. Every value that it sets is new.
type editor struct {
	windows []tracked
	values  int
}

func (c *editor) fresh(name string) any {
	c.values++
	switch name {
	case "days":
		return []any{fmt.Sprint("day", c.values)}
	case "replicas":
		return number(1000 + c.values)
	}
	return fmt.Sprint("time", c.values)
}

var windowNames = slices.Sorted(maps.Keys(windowFields))

// edit changes a field, and at most half of a window's in all.
func (c *editor) edit(t *rapid.T) {
	w := &c.windows[rapid.IntRange(0, len(c.windows)-1).Draw(t, "edited")]
	name := rapid.SampledFrom(windowNames).Draw(t, "field")
	if w.edited[name] || len(w.edited) < len(windowNames)/2 {
		w.window[name] = c.fresh(name)
		w.edited[name] = true
	}
}

func (c *editor) insert(t *rapid.T) {
	added := tracked{window: map[string]any{}, origin: -1, edited: map[string]bool{}}
	for _, name := range windowNames {
		added.window[name] = c.fresh(name)
	}
	if rapid.Bool().Draw(t, "on the same days") {
		added.window["days"] = []any{"Mon"}
	}
	c.windows = slices.Insert(c.windows, rapid.IntRange(0, len(c.windows)).Draw(t, "at"), added)
}

func (c *editor) remove(t *rapid.T) tracked {
	i := rapid.IntRange(0, len(c.windows)-1).Draw(t, "removed")
	removed := c.windows[i]
	c.windows = slices.Delete(c.windows, i, i+1)
	return removed
}

// act does one thing to the list.
func (c *editor) act(t *rapid.T, acts []string) {
	if len(c.windows) == 0 {
		c.insert(t)
		return
	}
	switch rapid.SampledFrom(acts).Draw(t, "act") {
	case "edit":
		c.edit(t)
	case "insert":
		c.insert(t)
	case "delete":
		c.remove(t)
	case "move":
		moved := c.remove(t)
		c.windows = slices.Insert(c.windows, rapid.IntRange(0, len(c.windows)).Draw(t, "to"), moved)
	}
}

// hides lists what a client of v1alpha1 cannot see of a window, apart from what it has edited.
func hides(window any, edited map[string]bool) map[string]any {
	hidden := maps.Clone(window.(map[string]any))
	for _, name := range []string{"days", "start"} {
		delete(hidden, name)
	}
	if _, isText := hidden["replicas"].(string); !isText || edited["replicas"] {
		delete(hidden, "replicas")
	}
	if hidden["end"] != "24:00" || edited["end"] {
		delete(hidden, "end")
	}
	return hidden
}

// readInPlace takes the windows for edited where they are if that explains the list as well as what the client did. Look-alikes
// that were moved, and edited in all that tells them apart, cannot be told from look-alikes that were edited only.
func (c *editor) readInPlace(spec map[string]any) {
	before := windowsOf(view(spec))
	if len(before) != len(c.windows) {
		return
	}
	edited := make([]map[string]bool, len(before))
	for i, w := range c.windows {
		edited[i] = map[string]bool{}
		for _, name := range windowNames {
			if !Same(before[i].(map[string]any)[name], w.window[name]) {
				edited[i][name] = true
			}
		}
		if w.origin < 0 || len(edited[i]) > len(w.edited) {
			return
		}
	}
	for i := range c.windows {
		c.windows[i].origin, c.windows[i].edited = i, edited[i]
	}
}

// write lets a client act, and returns its list and the review of the write. The annotation stays as it was read.
func write(t *rapid.T, spec map[string]any, most int, acts ...string) (*editor, Review) {
	hub := map[string]any{"apiVersion": "kyklos.io/v1beta1", "metadata": map[string]any{}, "spec": spec}
	spoke := there(t, hub, ToV1alpha1)
	c := &editor{}
	for i, window := range windowsOf(spoke["spec"].(map[string]any)) {
		c.windows = append(c.windows, tracked{window.(map[string]any), i, map[string]bool{}})
	}
	for range rapid.IntRange(1, most).Draw(t, "acts") {
		c.act(t, acts)
	}
	list := []any{}
	for _, w := range c.windows {
		list = append(list, w.window)
	}
	spoke["spec"].(map[string]any)["windows"] = list
	review, err := ReviewWrite(encode(hub), encode(spoke))
	if err != nil {
		t.Fatal(err)
	}
	if len(review.Lost)+len(review.Changed) > 0 {
		t.Fatalf("with the annotation as it was: lost %v, changed %v", review.Lost, review.Changed)
	}
	return c, review
}

func storedWindows(review Review) []any {
	return windowsOf(decode(review.Hub).(map[string]any)["spec"].(map[string]any))
}

// Whatever a client of v1alpha1 does to a list of windows that can be told apart, the write is refused, or each window
// that is left keeps what the client does not see. Edits in place are never refused, so they go first if they explain the
// list as well.
func TestNoWindowLosesWhatIsHidden(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range batch / 10 {
			spec := hubWith(t)
			c, review := write(t, spec, 5, "edit", "edit", "insert", "delete", "move")
			if len(review.Unclear) > 0 {
				refused++
				continue
			}
			accepted++
			after := storedWindows(review)
			c.readInPlace(spec)
			for j, w := range c.windows {
				if w.origin < 0 {
					continue
				}
				want := hides(windowsOf(spec)[w.origin], w.edited)
				if got := hides(after[j], w.edited); !Same(want, got) {
					t.Fatalf("window %d, which was %d (-want +got)\n%s\nof %s", j, w.origin, cmp.Diff(want, got), encode(spec["windows"]))
				}
			}
		}
	})
	if accepted < refused || refused == 0 {
		t.Errorf("%d accepted and %d refused: the test proves little", accepted, refused)
	}
}

// Of windows that look alike in v1alpha1, all stay, or all go, or the write is refused.
func TestLookAlikesAreNotMistaken(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		spec := hubWith(t)
		for i, window := range windowsOf(spec) {
			w := window.(map[string]any)
			w["start"], w["end"], w["name"] = fmt.Sprintf("0%d:00", i/3), "17:00", fmt.Sprint("w", i)
			w["replicas"] = number(i / 3)
		}
		c, review := write(t, spec, 4, "insert", "delete", "move")
		if len(review.Unclear) > 0 {
			refused++
			return
		}
		accepted++
		var want, got []string
		for j, window := range storedWindows(review) {
			if w := c.windows[j]; w.origin >= 0 {
				want = append(want, windowsOf(spec)[w.origin].(map[string]any)["name"].(string))
			}
			if name, named := window.(map[string]any)["name"]; named {
				got = append(got, name.(string))
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("names (-want +got)\n%s", diff)
		}
	})
	if accepted == 0 || refused == 0 {
		t.Errorf("%d accepted and %d refused: the test proves little", accepted, refused)
	}
}

// A client that edits windows where they are is never refused, however many look alike.
func TestEditsInPlaceAreClear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := hubWith(t)
		for _, window := range windowsOf(spec) {
			window.(map[string]any)["start"] = "09:00"
		}
		c, review := write(t, spec, 5, "edit")
		if len(review.Unclear) > 0 {
			t.Fatalf("unclear: %v", review.Unclear)
		}
		for j, window := range storedWindows(review) {
			if want, got := hides(windowsOf(spec)[j], c.windows[j].edited), hides(window, c.windows[j].edited); !Same(want, got) {
				t.Fatalf("window %d (-want +got)\n%s", j, cmp.Diff(want, got))
			}
		}
	})
}
