package extmetric

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/metrics"
)

// gauge is a poller in a synctest bubble, and a metrics API whose answers the test sets.
type gauge struct {
	*testing.T
	Poller
	started time.Time

	mu     sync.Mutex
	answer func(context.Context, Source) (int64, error)
	asked  []string // source and second of each request
	woken  map[string]int
}

// inBubble runs test with a poller that polls every 15 s.
func inBubble(t *testing.T, test func(*gauge)) {
	synctest.Test(t, func(t *testing.T) {
		g := &gauge{T: t, started: time.Now(), woken: map[string]int{}}
		g.Poller = Poller{
			Interval: 15 * time.Second,
			Read: func(ctx context.Context, source Source) (int64, error) {
				g.mu.Lock()
				g.asked = append(g.asked, fmt.Sprintf("%s %.0f", source.Name, time.Since(g.started).Seconds()))
				answer := g.answer
				g.mu.Unlock()
				return answer(ctx, source)
			},
			Wake: func(keys ...types.NamespacedName) {
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

func (g *gauge) answers(value int64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = func(context.Context, Source) (int64, error) { return value, err }
}

// hangs answers when the poll times out.
func (g *gauge) hangs() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = func(ctx context.Context, _ Source) (int64, error) {
		<-ctx.Done()
		return 0, &url.Error{Op: "Get", URL: "https://api", Err: ctx.Err()}
	}
}

// wakes counts how often a scaler was woken, requests how many polls there were.
func (g *gauge) wakes(name string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.woken[name]
}

func (g *gauge) requests() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.asked)
}

// after lets time pass and waits for all that becomes due.
func (g *gauge) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// polled compares the requests since the last call.
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
	got := g.Sample(web)
	if got.Value != value || got.Misses != misses || got.Problem != problem {
		g.Errorf("knows %+v, want value %d, %d misses, problem %q", got, value, misses, problem)
	}
}

// A source is polled at once and then once per interval, however often it is requested; and each value
// wakes its scaler, because the HPA decides again with each.
func TestOncePerInterval(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.answers(7, nil)
		for range 10 {
			g.Follow(web, &Source{Name: "queue"})
			g.after(4 * time.Second)
		}
		g.polled("queue 0", "queue 15", "queue 30")
		g.knows(7, 0, "")
		if g.wakes("web") != 3 {
			t.Errorf("woken %d times, want 3", g.wakes("web"))
		}
	})
}

// No request, no wake-up and no memory once nothing is asked for.
func TestNothingOutsideTheWindow(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.answers(7, nil)
		g.Follow(web, nil)
		g.after(time.Hour)
		g.polled()
		g.Follow(web, &Source{Name: "queue"})
		g.after(time.Second)
		g.Follow(web, nil)
		g.after(time.Hour)
		g.polled("queue 3600")
		if g.wakes("web") != 1 {
			t.Errorf("woken %d times, want once", g.wakes("web"))
		}
		if got := g.Sample(web); got != (Sample{}) {
			t.Errorf("still known: %+v", got)
		}
	})
}

// Another source is polled at once, without any history.
func TestAnotherSource(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.answers(7, nil)
		g.Follow(web, &Source{Name: "queue"})
		g.after(time.Second)
		before := g.Sample(web).Number
		g.answers(9, nil)
		g.Follow(web, &Source{Name: "lag"})
		if got := g.Sample(web); got != (Sample{Source: Source{Name: "lag"}}) {
			t.Errorf("starts with %+v", got)
		}
		g.after(time.Second)
		g.polled("queue 0", "lag 1")
		if after := g.Sample(web); after.Number == before || after.Value != 9 {
			t.Errorf("%+v cannot be distinguished from value number %d", after, before)
		}
	})
}

// The answer for a source that is no longer polled is dropped.
func TestALateAnswer(t *testing.T) {
	inBubble(t, func(g *gauge) {
		release := make(chan struct{})
		g.mu.Lock()
		g.answer = func(context.Context, Source) (int64, error) {
			<-release
			return 7, nil
		}
		g.mu.Unlock()
		g.Follow(web, &Source{Name: "queue"})
		synctest.Wait()
		g.Follow(web, nil)
		close(release)
		g.after(time.Second)
		if g.wakes("web") != 0 {
			t.Error("woken by the answer for a source that is no longer polled")
		}
	})
}
