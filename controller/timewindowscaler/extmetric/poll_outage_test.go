package extmetric

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/metrics"
)

func TestMisses(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.answers(0, errors.New("refused at 10:00:01"))
		g.Follow(web, &Source{Name: "queue"})
		g.after(time.Second)
		g.answers(0, errors.New("refused at 10:00:16"))
		g.after(15 * time.Second)
		g.knows(0, 2, "refused at 10:00:01") // the text does not flap
		g.answers(0, apierrors.NewServiceUnavailable("no endpoints"))
		g.after(15 * time.Second)
		g.knows(0, 3, "no endpoints") // another kind of problem is news
		g.answers(7, nil)
		g.after(15 * time.Second)
		g.knows(7, 0, "")
		g.answers(0, errNoSeries)
		g.after(15 * time.Second)
		g.knows(7, 1, errNoSeries.Error())
	})
}

// While no API server answers, nothing can be scaled either, and no miss is counted.
func TestAnOutageOfTheAPIServerIsNotAMiss(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.answers(7, nil)
		g.Follow(web, &Source{Name: "queue"})
		g.after(time.Second)
		g.answers(0, &url.Error{Op: "Get", URL: "https://api", Err: io.ErrUnexpectedEOF})
		g.after(time.Hour)
		g.knows(7, 0, "")
	})
}

// With a metrics API that hangs each poll takes its full timeout, and the limit of concurrent polls holds.
func TestAHangingMetricsAPI(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.hangs()
		for i := range 3 * pollsAtOnce {
			g.Follow(types.NamespacedName{Namespace: "shop", Name: fmt.Sprintf("hung-%d", i)}, &Source{Name: "queue"})
		}
		synctest.Wait()
		if waited := time.Since(g.started); waited != 0 {
			g.Errorf("passes waited %s for polls", waited)
		}
		if got := g.requests(); got != pollsAtOnce {
			t.Errorf("%d polls at once, want %d", got, pollsAtOnce)
		}
		g.after(pollTimeout)
		for i := range 3 * pollsAtOnce {
			key := types.NamespacedName{Namespace: "shop", Name: fmt.Sprintf("hung-%d", i)}
			if !g.Sample(key).Answered || g.wakes(key.Name) == 0 {
				t.Fatalf("%s is still held: %+v", key.Name, g.Sample(key)) // polled or not
			}
		}
		g.after(2 * pollTimeout)
		for i := range 3 * pollsAtOnce {
			key := types.NamespacedName{Namespace: "shop", Name: fmt.Sprintf("hung-%d", i)}
			if got := g.Sample(key); got.Misses == 0 || got.Problem != "external.metrics.k8s.io did not answer within 5s" {
				t.Fatalf("%s after all had their turn: %+v", key.Name, got)
			}
			g.Follow(key, nil)
			metrics.Forget(key)
		}
		g.answers(7, nil)
		g.Follow(web, &Source{Name: "queue"})
		g.after(time.Millisecond)
		g.knows(7, 0, "") // places are free again
	})
}

// A poll that took longer than the interval is followed by one poll, not by all that were missed.
func TestNoCatchingUp(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.Interval = 2 * time.Second
		g.hangs()
		g.Follow(web, &Source{Name: "queue"})
		g.after(6 * time.Second)
		g.polled("queue 0", "queue 5")
		g.answers(7, nil)
		g.after(6500 * time.Millisecond)
		g.polled("queue 10", "queue 12")
	})
}

// When the manager stops, polls end, and no more start.
func TestPollingEndsWithTheManager(t *testing.T) {
	inBubble(t, func(g *gauge) {
		g.hangs()
		g.Follow(web, &Source{Name: "queue"})
		synctest.Wait()
		ctx, stop := context.WithCancel(g.Context())
		stop()
		if err := g.Start(ctx); err != nil {
			t.Error(err)
		}
		g.Follow(web, &Source{Name: "queue"})
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
		text       string
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
		if got := describeMiss(tc.err); !tc.unanswered && got != tc.text {
			t.Errorf("%s: %q, want %q", name, got, tc.text)
		}
	}
	long := describeMiss(errors.New(string(make([]byte, 10_000))))
	if len(long) != 303 {
		t.Errorf("a text of %d bytes", len(long))
	}
}

func TestMetricsValidate(t *testing.T) {
	if err := DefaultOptions.Validate(); err != nil {
		t.Error(err)
	}
}
