package events_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/events"
)

var start = time.Date(2025, 1, 27, 9, 0, 0, 0, time.UTC)

// listener records published events.
type listener struct {
	mu    sync.Mutex
	notes []string
	last  events.Event
}

func (l *listener) Eventf(_, _ runtime.Object, kind, reason, action, note string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = events.Event{Type: kind, Reason: reason, Action: action, Note: fmt.Sprintf(note, args...)}
	l.notes = append(l.notes, l.last.Note)
}

func scaler(name, uid string) *v1beta1.TimeWindowScaler {
	return &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(uid)}}
}

func newRecorder() (*events.Recorder, *listener) {
	received := &listener{}
	return events.NewRecorder(received), received
}

func TestAnEventArrivesWhole(t *testing.T) {
	recorder, received := newRecorder()
	ev := events.EmitWarning(events.ReasonInvalidSchedule, "100%s of spec.windows")
	recorder.Publish(scaler("web", "1"), start, ev)
	if diff := cmp.Diff(ev, received.last); diff != "" {
		t.Errorf("(-sent +received)\n%s", diff)
	}
}

// B11: the same event within 5 minutes is skipped, after that it is emitted again.
func TestDedupe(t *testing.T) {
	up, down := events.EmitScale(true, "ScaleFrom2To10", "scaled up from 2 to 10 replicas", events.Cause{Window: "W"}), events.EmitScale(false, "ScaleFrom10To2", "scaled down from 10 to 2 replicas", events.Cause{Window: "W"})
	missing := events.EmitWarning(events.ReasonMissingTarget, "Target Deployment shop/web not found; create it, correct spec.targetRef, or delete this TimeWindowScaler if it is not needed any more")
	type at struct {
		after time.Duration
		who   *v1beta1.TimeWindowScaler
		ev    events.Event
	}
	web, api, reborn := scaler("web", "1"), scaler("api", "2"), scaler("web", "3")
	for name, tc := range map[string]struct {
		said []at
		want int
	}{
		"the same at once":                   {[]at{{0, web, up}, {0, web, up}}, 1},
		"the same a moment before 5 minutes": {[]at{{0, web, up}, {5*time.Minute - 1, web, up}}, 1},
		"the same after 5 minutes":           {[]at{{0, web, up}, {5 * time.Minute, web, up}}, 2},
		"a repetition does not prolong":      {[]at{{0, web, up}, {4 * time.Minute, web, up}, {5 * time.Minute, web, up}}, 2},
		"other values":                       {[]at{{0, web, up}, {0, web, down}}, 2},
		"warnings too":                       {[]at{{0, web, missing}, {time.Minute, web, missing}}, 1},
		"another object":                     {[]at{{0, web, up}, {0, api, up}}, 2},
		"a new object of the same name":      {[]at{{0, web, up}, {0, reborn, up}}, 2},
		"the clock was set back":             {[]at{{time.Hour, web, up}, {0, web, up}, {time.Minute, web, up}}, 2},
	} {
		recorder, received := newRecorder()
		for _, a := range tc.said {
			recorder.Publish(a.who, start.Add(a.after), a.ev)
		}
		if len(received.notes) != tc.want {
			t.Errorf("%s: received %d events, want %d: %q", name, len(received.notes), tc.want, received.notes)
		}
	}
}

func TestForgetResetsTheHistory(t *testing.T) {
	recorder, received := newRecorder()
	web, up := scaler("web", "1"), events.EmitScale(true, "ScaleFrom2To10", "scaled up from 2 to 10 replicas", events.Cause{Window: "W"})
	recorder.Publish(web, start, up)
	recorder.Forget(types.NamespacedName{Namespace: "shop", Name: "api"})
	recorder.Publish(web, start, up)
	recorder.Forget(types.NamespacedName{Namespace: "shop", Name: "web"})
	recorder.Publish(web, start, up)
	if len(received.notes) != 2 {
		t.Errorf("received %q, want the event before and after its own object was forgotten", received.notes)
	}
}

// burst publishes n different normal events about object.
func burst(recorder *events.Recorder, object *v1beta1.TimeWindowScaler, now time.Time, first, n int32) {
	for i := first; i < first+n; i++ {
		recorder.Publish(object, now, events.EmitScale(true, "Scale", fmt.Sprintf("scaled up from %d to %d replicas", i, i+1), events.Cause{Window: "W"}))
	}
}

// B11: 20 events a minute per TimeWindowScaler, warnings always.
func TestRate(t *testing.T) {
	recorder, received := newRecorder()
	web := scaler("web", "1")
	expect := func(what string, want int) {
		t.Helper()
		if len(received.notes) != want {
			t.Fatalf("%s: received %d events in all, want %d", what, len(received.notes), want)
		}
	}
	for i := range 30 {
		recorder.Publish(web, start, events.EmitWarning(events.ReasonInvalidSchedule, fmt.Sprint(i)))
	}
	expect("warnings", 30)
	burst(recorder, web, start, 0, 25)
	expect("normal events next to warnings", 50)
	recorder.Publish(web, start, events.EmitWarning(events.ReasonInvalidSchedule, "one more"))
	expect("a warning over the rate", 51)
	burst(recorder, scaler("api", "2"), start, 0, 1)
	expect("another object", 52)
	burst(recorder, web, start.Add(time.Minute-1), 100, 1)
	expect("before the minute is over", 52)
	burst(recorder, web, start.Add(time.Minute), 24, 1)
	expect("what was too many before is news after a minute", 53)
	burst(recorder, web, start.Add(time.Minute), 200, 25)
	expect("twenty again", 72)
}

// After the clock was set back, events with a time in the future no longer count.
func TestRateAfterTheClockWasSetBack(t *testing.T) {
	recorder, received := newRecorder()
	web := scaler("web", "1")
	burst(recorder, web, start.Add(time.Hour), 0, 20)
	burst(recorder, web, start, 100, 1)
	if len(received.notes) != 21 {
		t.Errorf("received %d events, want 21", len(received.notes))
	}
}

// The API server takes 1024 bytes of valid UTF-8.
func TestLongNotesAreCutBetweenCharacters(t *testing.T) {
	for name, tc := range map[string]struct{ note, want string }{
		"just fits":        {strings.Repeat("a", 1024), strings.Repeat("a", 1024)},
		"one too many":     {strings.Repeat("a", 1025), strings.Repeat("a", 1021) + "..."},
		"two-byte letters": {strings.Repeat("é", 600), strings.Repeat("é", 510) + "..."},
		"three-byte signs": {"a" + strings.Repeat("窓", 400), "a" + strings.Repeat("窓", 340) + "..."},
	} {
		recorder, received := newRecorder()
		recorder.Publish(scaler("web", "1"), start, events.EmitWarning(events.ReasonInvalidSchedule, tc.note))
		if got := received.last.Note; got != tc.want || !utf8.ValidString(got) || len(got) > 1024 {
			t.Errorf("%s: got %d bytes, valid: %v, ending in %q", name, len(got), utf8.ValidString(got), got[len(got)-6:])
		}
	}
}

func TestPublishFromManyGoroutines(t *testing.T) {
	recorder, received := newRecorder()
	var all sync.WaitGroup
	for i := range int32(8) {
		all.Go(func() {
			web := scaler("web", "1")
			burst(recorder, web, start, 0, 10)
			burst(recorder, scaler(fmt.Sprint(i), "1"), start, 0, 1)
			recorder.Forget(types.NamespacedName{Namespace: "shop", Name: "gone"})
		})
	}
	all.Wait()
	if len(received.notes) != 10+8 {
		t.Errorf("received %d events, want 10 about the common object and one about each other", len(received.notes))
	}
}
