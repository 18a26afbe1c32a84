package timewindowscaler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/metrics"
)

// gauge is a poller in a bubble of its own time, and a metrics API whose answers are set by hand.
type gauge struct {
	*testing.T
	metricPoller
	started time.Time

	mu     sync.Mutex
	answer func(context.Context, metricSource) (int64, error)
	asked  []string // source and second of each request
	woken  map[string]int
}

// inBubble runs test with a poller that polls every 15 s.
func inBubble(t *testing.T, test func(*gauge)) {
	synctest.Test(t, func(t *testing.T) {
		g := &gauge{T: t, started: time.Now(), woken: map[string]int{}}
		g.metricPoller = metricPoller{
			interval: 15 * time.Second,
			read: func(ctx context.Context, source metricSource) (int64, error) {
				g.mu.Lock()
				g.asked = append(g.asked, fmt.Sprintf("%s %.0f", source.name, time.Since(g.started).Seconds()))
				answer := g.answer
				g.mu.Unlock()
				return answer(ctx, source)
			},
			wake: func(keys ...types.NamespacedName) {
				g.mu.Lock()
				defer g.mu.Unlock()
				for _, key := range keys {
					g.woken[key.Name]++
				}
			},
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- g.Start(ctx) }()
		defer func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			metrics.Forget(web)
		}()
		test(g)
	})
}

var web = types.NamespacedName{Namespace: "shop", Name: "web"}

func (g *gauge) says(value int64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = func(context.Context, metricSource) (int64, error) { return value, err }
}

// hangs answers when the poll's own patience ends.
func (g *gauge) hangs() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = func(ctx context.Context, _ metricSource) (int64, error) {
		<-ctx.Done()
		return 0, &url.Error{Op: "Get", URL: "https://api", Err: ctx.Err()}
	}
}

// after lets time pass, and everything that is due in it.
func (g *gauge) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// polled compares what was asked since the last time.
func (g *gauge) polled(want ...string) {
	g.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if diff := cmp.Diff(want, g.asked); diff != "" {
		g.Errorf("polls (-want +got)\n%s", diff)
	}
	g.asked = nil
}

// knows compares the sample of web.
func (g *gauge) knows(value int64, misses int, problem string) {
	g.Helper()
	got := g.sample(web)
	if got.value != value || got.misses != misses || got.problem != problem {
		g.Errorf("knows %+v, want value %d, %d misses, problem %q", got, value, misses, problem)
	}
}

// A source is polled at once and then once per interval, whoever asks for it how often; and each value
// wakes its scaler, for the HPA decides anew with each.
func TestOncePerInterval(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.says(7, nil)
		for range 10 {
			g.follow(web, &metricSource{name: "queue"})
			g.after(4 * time.Second)
		}
		g.polled("queue 0", "queue 15", "queue 30")
		g.knows(7, 0, "")
		if g.woken["web"] != 3 {
			t.Errorf("woken %d times, want 3", g.woken["web"])
		}
	})
}

// No request, no wake-up and no memory once nothing is asked for.
func TestNothingOutsideTheWindow(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.says(7, nil)
		g.follow(web, nil)
		g.after(time.Hour)
		g.polled()
		g.follow(web, &metricSource{name: "queue"})
		g.after(time.Second)
		g.follow(web, nil)
		g.after(time.Hour)
		g.polled("queue 3600")
		if g.woken["web"] != 1 {
			t.Errorf("woken %d times, want once", g.woken["web"])
		}
		if got := g.sample(web); got != (metricSample{}) || len(g.polls) != 0 {
			t.Errorf("still known: %+v and %d polls", got, len(g.polls))
		}
	})
}

// Another source begins at once and from nothing.
func TestAnotherSource(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.says(7, nil)
		g.follow(web, &metricSource{name: "queue"})
		g.after(time.Second)
		before := g.sample(web).number
		g.says(9, nil)
		g.follow(web, &metricSource{name: "lag"})
		if got := g.sample(web); got != (metricSample{source: metricSource{name: "lag"}}) {
			t.Errorf("begins with %+v", got)
		}
		g.after(time.Second)
		g.polled("queue 0", "lag 1")
		if after := g.sample(web); after.number == before || after.value != 9 {
			t.Errorf("%+v cannot be told from value number %d", after, before)
		}
	})
}

// The answer to what is no longer asked for is dropped.
func TestALateAnswer(t *testing.T) {
	inBubble(t, func(g *gauge) {
		release := make(chan struct{})
		g.answer = func(context.Context, metricSource) (int64, error) {
			<-release
			return 7, nil
		}
		g.follow(web, &metricSource{name: "queue"})
		synctest.Wait()
		g.follow(web, nil)
		close(release)
		g.after(time.Second)
		if g.woken["web"] != 0 {
			t.Error("woken by the answer to what is no longer asked for")
		}
	})
}

func TestMisses(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.says(0, errors.New("refused at 10:00:01"))
		g.follow(web, &metricSource{name: "queue"})
		g.after(time.Second)
		g.says(0, errors.New("refused at 10:00:16"))
		g.after(15 * time.Second)
		g.knows(0, 2, "refused at 10:00:01") // the text does not flap
		g.says(0, apierrors.NewServiceUnavailable("no endpoints"))
		g.after(15 * time.Second)
		g.knows(0, 3, "no endpoints") // another kind of problem is news
		g.says(7, nil)
		g.after(15 * time.Second)
		g.knows(7, 0, "")
		g.says(0, errNoSeries)
		g.after(15 * time.Second)
		g.knows(7, 1, errNoSeries.Error())
	})
}

// While no API server answers, nothing can be scaled either, and nothing is held against the metric.
func TestAnOutageOfTheAPIServerIsNoMiss(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.says(7, nil)
		g.follow(web, &metricSource{name: "queue"})
		g.after(time.Second)
		g.says(0, &url.Error{Op: "Get", URL: "https://api", Err: io.ErrUnexpectedEOF})
		g.after(time.Hour)
		g.knows(7, 0, "")
	})
}

// A metrics API that hangs costs each poll its patience, and no more at once than the limit.
func TestAHangingMetricsAPI(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.hangs()
		for i := range 3 * pollsAtOnce {
			g.follow(types.NamespacedName{Namespace: "shop", Name: fmt.Sprintf("hung-%d", i)}, &metricSource{name: "queue"})
		}
		synctest.Wait()
		if waited := time.Since(g.started); waited != 0 {
			g.Errorf("passes waited %s for polls", waited)
		}
		if len(g.asked) != pollsAtOnce {
			t.Errorf("%d polls at once, want %d", len(g.asked), pollsAtOnce)
		}
		g.after(pollPatience)
		for i := range 3 * pollsAtOnce {
			key := types.NamespacedName{Namespace: "shop", Name: fmt.Sprintf("hung-%d", i)}
			if !g.sample(key).answered || g.woken[key.Name] == 0 {
				t.Fatalf("%s is still held: %+v", key.Name, g.sample(key)) // polled or not
			}
		}
		g.after(2 * pollPatience)
		for i := range 3 * pollsAtOnce {
			key := types.NamespacedName{Namespace: "shop", Name: fmt.Sprintf("hung-%d", i)}
			if got := g.sample(key); got.misses == 0 || got.problem != "external.metrics.k8s.io did not answer within 5s" {
				t.Fatalf("%s after all had their turn: %+v", key.Name, got)
			}
			g.follow(key, nil)
			metrics.Forget(key)
		}
		g.says(7, nil)
		g.follow(web, &metricSource{name: "queue"})
		g.after(time.Millisecond)
		g.knows(7, 0, "") // places are free again
	})
}

// A poll that took longer than the interval is followed by one poll, not by those that it kept waiting.
func TestNoCatchingUp(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.interval = 2 * time.Second
		g.hangs()
		g.follow(web, &metricSource{name: "queue"})
		g.after(6 * time.Second)
		g.polled("queue 0", "queue 5")
		g.says(7, nil)
		g.after(6500 * time.Millisecond)
		g.polled("queue 10", "queue 12")
	})
}

// When the manager stops, polls end, and none begins.
func TestPollingEndsWithTheManager(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.hangs()
		g.follow(web, &metricSource{name: "queue"})
		synctest.Wait()
		ctx, stop := context.WithCancel(g.Context())
		stop()
		if err := g.Start(ctx); err != nil {
			t.Error(err)
		}
		g.follow(web, &metricSource{name: "queue"})
		g.after(time.Hour)
		g.polled("queue 0")
	})
}

func TestWhatAMissIs(t *testing.T) {
	resource := schema.GroupResource{Group: "external.metrics.k8s.io", Resource: "queue"}
	transport := func(err error) error { return &url.Error{Op: "Get", URL: "https://api", Err: err} }
	for name, tc := range map[string]struct {
		err        error
		unanswered bool
		says       string
	}{
		"no series":      {errNoSeries, false, "the metrics API returned no values: no series has this name and selector"},
		"no such metric": {apierrors.NewNotFound(resource, ""), false, `the API server serves no such metric in external.metrics.k8s.io: queue.external.metrics.k8s.io "" not found`},
		"not allowed":    {apierrors.NewForbidden(resource, "", errors.New("no")), false, `queue.external.metrics.k8s.io is forbidden: no`},
		"hung":           {transport(context.DeadlineExceeded), false, "external.metrics.k8s.io did not answer within 5s"},
		"refused":        {transport(errors.New("connection refused")), true, ""},
		"cut off":        {transport(io.EOF), true, ""},
	} {
		if got := isUnanswered(tc.err); got != tc.unanswered {
			t.Errorf("%s: unanswered %v", name, got)
		}
		if got := describeMiss(tc.err); !tc.unanswered && got != tc.says {
			t.Errorf("%s: %q, want %q", name, got, tc.says)
		}
	}
	long := describeMiss(errors.New(string(make([]byte, 10_000))))
	if len(long) != 303 {
		t.Errorf("a text of %d bytes", len(long))
	}
}

func TestMetricsValidate(t *testing.T) {
	if err := DefaultMetrics.Validate(); err != nil {
		t.Error(err)
	}
}
