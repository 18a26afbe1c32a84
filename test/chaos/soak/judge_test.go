package soak

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// minute is a time after the start of the model's plans.
func minute(m float64) time.Time {
	return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).Add(time.Duration(m * float64(time.Minute)))
}

// The model accepts what a right manager does under faults, and refuses what none does.
func TestModelJudges(t *testing.T) {
	first := plan{{time.Time{}, 1}, {minute(1), 2}, {minute(2), 3}, {minute(3), 4}}
	second := plan{{time.Time{}, 5}, {minute(2), 6}, {minute(3), 7}}
	edited := func(m *model) { m.change(minute(0.5), second, false)(minute(0.6)) }
	for _, c := range []struct {
		name   string
		change func(*model)
		writes []write
		want   string // in the error of the last write
	}{
		{"each boundary", nil, []write{{minute(1), 2, "a"}, {minute(2), 3, "a"}}, ""},
		{"a boundary missed", nil, []write{{minute(2.5), 3, "a"}}, ""},
		{"a late decision", nil, []write{{minute(2.1), 2, "a"}, {minute(2.2), 3, "a"}}, ""},
		{"an early write", nil, []write{{minute(0.999), 2, "a"}}, "no spec"},
		{"a boundary back", nil, []write{{minute(2), 3, "a"}, {minute(2.1), 2, "b"}}, "no spec"},
		{"a count that nobody asks for", nil, []write{{minute(2), 9, "a"}}, "no spec"},
		{"twice for one cause", nil, []write{{minute(2), 3, "a"}, {minute(2.1), 3, "b"}}, "wrote before"},
		{"an edit", edited, []write{{minute(0.7), 5, "a"}, {minute(2), 6, "a"}}, ""},
		{"an edit seen late", edited, []write{{minute(1), 2, "a"}, {minute(1.2), 5, "a"}}, ""},
		{"an edit forgotten", edited, []write{{minute(0.7), 5, "a"}, {minute(1), 2, "a"}}, "no spec"},
		{"a flip-flop", edited, []write{{minute(1), 2, "a"}, {minute(1.1), 5, "a"}, {minute(1.2), 2, "a"}}, "no spec"},
		{"a paused scaler", func(m *model) { m.change(minute(0.5), second, true)(minute(0.6)) }, []write{{minute(0.7), 5, "a"}}, "no spec"},
		{"a correction", func(m *model) { m.disturb(minute(1.5)) }, []write{{minute(1), 2, "a"}, {minute(1.6), 2, "a"}}, ""},
	} {
		m := newModel(c.name, first, minute(0))
		if c.change != nil {
			c.change(m)
		}
		for i, w := range c.writes {
			err := m.wrote(w)
			switch last := i == len(c.writes)-1; {
			case !last && err != nil, last && (err == nil) != (c.want == ""), err != nil && !strings.Contains(err.Error(), c.want):
				t.Errorf("%s, write %d: got %v, want %q\n%s", c.name, i, err, c.want, m.history())
			}
		}
	}
}

// A manager that was killed may have written a count that nobody saw. What is written afterwards is no repetition.
func TestModelKnowsWhatItDoesNotKnow(t *testing.T) {
	for _, refused := range []bool{false, true} {
		m := newModel("web", plan{{time.Time{}, 0}, {minute(1), 1}, {minute(2), 0}, {minute(3), 1}}, minute(0))
		first := m.wrote(write{minute(1), 1, "a"})
		if m.sent(minute(2)); refused {
			m.refused(minute(2))
		}
		second := m.wrote(write{minute(3), 1, "b"})
		third := m.wrote(write{minute(3.1), 1, "b"})
		if first != nil || (second != nil) != refused || third == nil {
			t.Errorf("refused %v: got %v, %v, %v", refused, first, second, third)
		}
	}
}

// More writes than causes are a fault even where each of them alone could be right.
func TestModelCountsCauses(t *testing.T) {
	m := newModel("web", plan{{time.Time{}, 0}, {minute(1), 1}, {minute(2), 0}}, minute(0))
	var err error
	for i := range int32(6) {
		m.known = map[int]time.Time{0: minute(0)} // as if it went back each time
		err = m.wrote(write{minute(3), (i + 1) % 2, "a"})
	}
	if err == nil || !strings.Contains(err.Error(), "causes") {
		t.Errorf("got %v for six writes of two boundaries", err)
	}
}

// A decrease waits for the grace period that began with the first of several, and not for one of its own.
func TestModelJudgesGrace(t *testing.T) {
	asked := plan{{time.Time{}, 1}, {minute(1), 4}, {minute(2), 3}, {minute(3), 2}, {minute(4), 5}, {minute(5), 1}}
	for _, c := range []struct {
		name   string
		writes []write
		right  bool
	}{
		{"on time", []write{{minute(1), 4, "a"}, {minute(2.4), 3, "a"}, {minute(3.4), 2, "a"}}, true},
		{"too early", []write{{minute(1), 4, "a"}, {minute(2.2), 3, "a"}}, false},
		{"late over two decreases", []write{{minute(1), 4, "a"}, {minute(3.1), 2, "a"}}, true},
		{"after a rise", []write{{minute(4), 5, "a"}, {minute(5.1), 1, "a"}}, false},
		{"the first decision", []write{{minute(2.1), 3, "a"}}, true},
		{"none was reported", []write{{minute(1), 4, "a"}, {minute(2.2), 3, "b"}}, true},
	} {
		m := newModel(c.name, asked.withGrace(20*time.Second), minute(0))
		m.immediate, m.gracePeriod = asked, 20*time.Second
		for i, w := range c.writes {
			if err := m.wrote(w); (err == nil) != (c.right || i < len(c.writes)-1) {
				t.Errorf("%s, write %d: got %v, right: %v", c.name, i, err, c.right)
			}
			if c.name != "none was reported" {
				m.report(w.count)
			}
		}
	}
}

// A count is wanted from its boundary on, and later if it is lower and has a grace period.
func TestModelWants(t *testing.T) {
	m := newModel("web", plan{{time.Time{}, 1}, {minute(1), 3}, {minute(2), 2}}.withGrace(20*time.Second), minute(0))
	for _, c := range []struct {
		now   float64
		count int32
		since float64
	}{{0.5, 1, 0}, {1, 3, 1}, {2.1, 3, 1}, {2.4, 2, 2 + 1.0/3}} {
		count, since, ok := m.want(minute(c.now))
		if !ok || count != c.count || since.Sub(minute(c.since)).Abs() > time.Millisecond {
			t.Errorf("at minute %v: got %d since %s (%v), want %d since minute %v", c.now, count, since, ok, c.count, c.since)
		}
	}
	done := m.change(minute(3), plan{{time.Time{}, 8}}, false)
	if _, _, ok := m.want(minute(3)); ok {
		t.Error("something is wanted while the spec is being written")
	}
	done(minute(3.1))
	if count, since, _ := m.want(minute(4)); count != 8 || !since.Equal(minute(3.1)) {
		t.Errorf("after an edit: got %d since %s", count, since)
	}
}

// The windows of a plan say what the plan says, at each minute and in each zone.
func TestWindowsSayThePlan(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for zone, offset := range zones {
		p := drawPlan(random, minute(0), time.Minute, 30, []int32{0, 1, 2, 3})
		windows := p.windows(zone)
		for m := range 60 {
			now := minute(float64(m))
			local, count := now.Add(offset).Format("15:04"), int32(defaultCount)
			for _, w := range windows {
				if inside := w.Start <= local && local < w.End; w.Start < w.End && inside || w.Start > w.End && (w.Start <= local || local < w.End) {
					count = w.Replicas.IntVal
				}
			}
			if want := p.count(now); count != want {
				t.Errorf("%s at %s: the windows say %d, the plan %d", zone, local, count, want)
			}
		}
	}
}
