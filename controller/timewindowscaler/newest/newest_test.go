package newest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

var start = time.Date(2025, 1, 27, 9, 0, 0, 0, time.UTC)

// state is the state "UID@version"; "" is no object. Its value says where it was read.
func state(at, source string) State[string] {
	var uid, version string
	if at == "" {
		return State[string]{}
	}
	if _, err := fmt.Sscanf(at, "%1s@%s", &uid, &version); err != nil {
		panic(err)
	}
	return State[string]{UID: types.UID(uid), ResourceVersion: version, Value: at + " " + source}
}

// reads are what the sources have, and how often the API server was asked.
type reads struct {
	cache, server string
	asked         int
}

func (r *reads) read(t *testing.T, o *Object[string], at time.Duration) string {
	t.Helper()
	got, err := o.Read(start.Add(at),
		func() (State[string], error) { return state(r.cache, "cached"), nil },
		func() (State[string], error) { r.asked++; return state(r.server, "asked"), nil })
	if err != nil {
		t.Fatal(err)
	}
	return got.Value
}

// What is believed after the API server answered a write, or the cache was read, and the cache then has another state.
func TestWhichStateIsBelieved(t *testing.T) {
	for name, tc := range map[string]struct {
		// cached was read before, and answered is the answer to a write after it; "-" is none.
		cached, answered string
		cache, server    string
		want             string
	}{
		"nothing is known":                {"-", "-", "a@5", "!", "a@5 cached"},
		"nothing is known nor there":      {"-", "-", "", "!", ""},
		"the cache is behind a write":     {"a@9", "a@10", "a@9", "!", "a@10 answered"},
		"the cache has caught up":         {"a@9", "a@10", "a@10", "!", "a@10 cached"},
		"the cache is ahead":              {"a@9", "a@10", "a@11", "!", "a@11 cached"},
		"the cache has gone back":         {"a@9", "-", "a@8", "a@8", "a@8 asked"},
		"recreated":                       {"a@9", "a@10", "b@12", "!", "b@12 cached"},
		"recreated, the cache is behind":  {"a@9", "b@12", "a@10", "!", "b@12 answered"},
		"deleted":                         {"a@9", "-", "", "!", ""},
		"deleted after a write, perhaps":  {"a@9", "a@10", "", "", ""},
		"created, and the cache is empty": {"", "a@10", "", "a@10", "a@10 asked"},
		"gone, the cache is behind":       {"a@9", "", "a@9", "!", ""},
		"gone, it was changed before":     {"a@9", "", "a@10", "!", ""},
		"gone and recreated":              {"a@9", "", "b@12", "!", "b@12 cached"},
		"gone, an older one is cached":    {"b@9", "", "a@5", "!", ""},
		"gone, and never seen before":     {"-", "", "a@5", "", ""},
		"gone for both":                   {"a@9", "", "", "!", ""},
		"versions without an order":       {"a@9", "a@x", "a@9", "a@x", "a@x asked"},
		"the same version without order":  {"a@9", "a@x", "a@x", "!", "a@x cached"},
		"above 64 bits":                   {"a@9", "a@99999999999999999999", "a@99999999999999999998", "!", "a@99999999999999999999 answered"},
	} {
		var o Object[string]
		r := &reads{cache: tc.cached}
		if tc.cached != "-" {
			r.read(t, &o, 0)
		}
		if tc.answered != "-" {
			o.Answered(state(tc.answered, "answered"))
		}
		asks := tc.server != "!"
		r.cache, r.server, r.asked = tc.cache, tc.server, 0
		if got := r.read(t, &o, 0); got != tc.want || (r.asked == 1) != asks {
			t.Errorf("%s: %q after asking %d times, want %q", name, got, r.asked, tc.want)
		}
	}
}

// After a conflict the API server is asked once, and its answer counts while the cache is behind.
func TestDoubt(t *testing.T) {
	for _, answer := range []string{"a@12", "b@14", ""} {
		var o Object[string]
		r := &reads{cache: "a@10"}
		r.read(t, &o, 0)
		o.Answered(state("a@11", "answered"))
		o.Doubt()
		r.server = answer
		want := state(answer, "asked").Value
		for range 3 {
			if got := r.read(t, &o, 0); got != want || r.asked != 1 {
				t.Errorf("%q after asking %d times, want %q", got, r.asked, want)
			}
		}
	}
}

// An object that was deleted does not come back under its UID, but for a restore.
func TestADeletedObjectIsRestored(t *testing.T) {
	var o Object[string]
	r := &reads{server: "a@9"}
	for i, step := range []struct {
		cache, want string
		asked       int
	}{{"a@9", "a@9 cached", 0}, {"", "", 0}, {"a@9", "a@9 asked", 1}, {"a@9", "a@9 cached", 1}} {
		r.cache = step.cache
		if got := r.read(t, &o, 0); got != step.want || r.asked != step.asked {
			t.Errorf("step %d: %q after asking %d times, want %q after %d", i, got, r.asked, step.want, step.asked)
		}
	}
}

// As long as the API server does not answer, the doubt remains.
func TestDoubtUntilThereIsAnAnswer(t *testing.T) {
	var o Object[string]
	down := errors.New("down")
	cache := func() (State[string], error) { return state("a@5", "cached"), nil }
	o.Doubt()
	for range 2 {
		if _, err := o.Read(start, cache, func() (State[string], error) { return State[string]{}, down }); !errors.Is(err, down) {
			t.Fatalf("got error %v", err)
		}
	}
	if got, err := o.Read(start, cache, func() (State[string], error) { return state("a@6", "asked"), nil }); err != nil || got.Value != "a@6 asked" {
		t.Errorf("got %q, %v", got.Value, err)
	}
}

// A cache that stays behind is not trusted to be only late: etcd may have been restored, and then it never catches up. The API server
// is asked after 5, 15, 35 s and so on.
func TestACacheThatStaysBehind(t *testing.T) {
	var o Object[string]
	r := &reads{cache: "a@10"}
	r.read(t, &o, 0)
	o.Answered(state("a@11", "answered"))
	r.server = "a@11"
	var asked []int
	for second := range 100 {
		before := r.asked
		r.read(t, &o, time.Duration(second)*time.Second)
		if r.asked > before {
			asked = append(asked, second)
		}
		if o.AskAt().IsZero() {
			t.Fatalf("after %d s nothing is to be asked", second)
		}
	}
	if got, want := fmt.Sprint(asked), "[5 15 35 75]"; got != want {
		t.Errorf("asked after %s s, want %s", got, want)
	}
	r.server = "a@7"
	if got := r.read(t, &o, time.Hour); got != "a@7 asked" {
		t.Errorf("after a restore %q", got)
	}
	r.cache = "a@7"
	if got := r.read(t, &o, time.Hour); got != "a@7 cached" || !o.AskAt().IsZero() || o.Ahead() {
		t.Errorf("after the cache has caught up %q, ask at %s", got, o.AskAt())
	}
}

// A clock that is set back does not make the wait longer.
func TestPatienceWithAClockThatIsSetBack(t *testing.T) {
	var o Object[string]
	r := &reads{cache: "a@10", server: "a@11"}
	o.Answered(state("a@11", "answered"))
	r.read(t, &o, time.Hour)
	r.read(t, &o, 0)
	if r.read(t, &o, patience); r.asked != 1 {
		t.Errorf("asked %d times", r.asked)
	}
}

// A cache without values costs one read for each new version, and none for what was written.
func TestACacheOfVersions(t *testing.T) {
	o := Object[string]{VersionsOnly: true}
	r := &reads{}
	for i, step := range []struct {
		cache, server, answered string
		want                    string
		asked                   int
	}{
		{cache: "a@5", server: "a@5", want: "a@5 asked", asked: 1},
		{cache: "a@5", want: "a@5 asked", asked: 1},
		{cache: "a@6", server: "a@6", want: "a@6 asked", asked: 2},
		{cache: "a@6", answered: "a@7", want: "a@7 answered", asked: 2},
		{cache: "a@7", want: "a@7 answered", asked: 2},
		{cache: "a@8", server: "a@9", want: "a@9 asked", asked: 3}, // changed again meanwhile
		{cache: "a@9", want: "a@9 asked", asked: 3},
		{cache: "", want: "", asked: 3},
		{cache: "", want: "", asked: 3},
		{cache: "b@12", server: "b@12", want: "b@12 asked", asked: 4},
	} {
		if step.answered != "" {
			o.Answered(state(step.answered, "answered"))
		}
		r.cache, r.server = step.cache, step.server
		if got := r.read(t, &o, 0); got != step.want || r.asked != step.asked {
			t.Errorf("step %d: %q after asking %d times, want %q after %d", i, got, r.asked, step.want, step.asked)
		}
	}
}
