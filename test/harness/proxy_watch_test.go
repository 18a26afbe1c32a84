package harness

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"
)

// watch opens a watch of Deployments. The channel gets the names in its events, and the text of others.
func (s *server) watch(t *testing.T) <-chan string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.proxy.server.URL+deployments+"?watch=true", nil)
	Must(t, err)
	request.Header.Set("Accept", "application/vnd.kubernetes.protobuf;stream=watch,application/json")
	response, err := s.client.Do(request)
	Must(t, err)
	seen := make(chan string)
	go func() {
		defer close(seen)
		defer func() { _ = response.Body.Close() }()
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			_, name, _ := strings.Cut(lines.Text(), `"name":"`)
			if name, _, _ = strings.Cut(name, `"`); name == "" {
				name = lines.Text()
			}
			seen <- name
		}
	}()
	return seen
}

// Held events wait, and so do those behind them. Their order never changes.
func TestProxyHoldsEvents(t *testing.T) {
	s := newServer(t)
	seen := s.watch(t)
	next := func(want string) {
		t.Helper()
		if got := <-seen; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	release := s.proxy.HoldEvents(Match{Resource: "deployments", Name: "web"})
	s.events <- "api"
	next("api")
	s.events <- "web"
	s.events <- "shop"
	select {
	case name := <-seen:
		t.Errorf("got %s, which should wait", name)
	case <-time.After(20 * time.Millisecond):
	}
	release()
	next("web")
	next("shop")

	end := s.proxy.DelayEvents(Match{Name: "web"}, time.Hour)
	s.events <- "web"
	end()
	next("web")
	s.proxy.DelayEvents(Match{}, time.Millisecond)
	s.events <- "api"
	next("api")
}

func TestProxyEndsWatches(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct {
		how  Ending
		last string
	}{{Cut, ""}, {Expired, `"code":410`}} {
		seen := s.watch(t)
		if others := s.proxy.EndWatches(Match{Resource: "pods"}, c.how); others != 0 {
			t.Errorf("%d watches of pods were ended, and there is none", others)
		}
		Until(t, "the end of the watch", func() bool { return s.proxy.EndWatches(Match{Resource: "deployments"}, c.how) == 1 })
		last := ""
		for text := range seen {
			last = text
		}
		if !strings.Contains(last, c.last) || (last == "") != (c.last == "") {
			t.Errorf("the watch ended with %q, want %q", last, c.last)
		}
	}
}
