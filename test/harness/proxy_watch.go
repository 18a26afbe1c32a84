package harness

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// inJSON asks for a watch in JSON, so that its events can be read.
func inJSON(header http.Header) {
	accept := strings.ReplaceAll(header.Get("Accept"), "application/vnd.kubernetes.protobuf", "application/json")
	header.Set("Accept", strings.ReplaceAll(accept, ";stream=watch", ""))
}

// eventHold makes events wait.
type eventHold struct {
	match Match
	// by is for how long; 0 means until the hold is removed.
	by time.Duration
}

// HoldEvents stops watches at their next event of a matching object, until release is called. Events behind it wait as
// well: a watch never changes their order. A Match without any field freezes all watches.
func (p *Proxy) HoldEvents(match Match) (release func()) { return p.hold(&eventHold{match: match}) }

// DelayEvents delivers the events of matching objects, and those behind them, later by a time.
func (p *Proxy) DelayEvents(match Match, by time.Duration) (end func()) {
	return p.hold(&eventHold{match: match, by: by})
}

func (p *Proxy) hold(hold *eventHold) (end func()) {
	change := func(how func()) {
		p.mu.Lock()
		defer p.mu.Unlock()
		how()
		close(p.changed)
		p.changed = make(chan struct{})
	}
	change(func() { p.holds = append(p.holds, hold) })
	return sync.OnceFunc(func() {
		change(func() { p.holds = slices.DeleteFunc(p.holds, func(h *eventHold) bool { return h == hold }) })
	})
}

// Ending is how a watch ends.
type Ending int

const (
	// Cut ends the stream, as a connection that is lost.
	Cut Ending = iota
	// Expired ends it with the error 410 Gone, so that the client has to list again.
	Expired
)

// EndWatches ends the open watches of matching requests and returns how many there were.
func (p *Proxy) EndWatches(match Match, how Ending) (ended int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.streams {
		if match.matches(&s.request) {
			select {
			case s.end <- how:
				ended++
			default: // it ends already
			}
		}
	}
	return ended
}

// event is one line of a watch.
type event struct {
	text    []byte
	object  Request // only the fields that a Match reads
	arrived time.Time
}

// stream is the body of a watch. One goroutine reads the API server's events, and Read returns those that may pass.
type stream struct {
	request  Request
	proxy    *Proxy
	ctx      context.Context
	upstream io.ReadCloser
	events   chan event
	end      chan Ending
	head     *event // the next one, which may have to wait
	rest     []byte // of the event that Read returns
	ended    error
}

// backlog is how many events can wait. Behind it the API server waits, and finally ends the watch.
const backlog = 100_000

func (p *Proxy) newStream(ctx context.Context, request Request, upstream io.ReadCloser) *stream {
	s := &stream{request: request, proxy: p, ctx: ctx, upstream: upstream, events: make(chan event, backlog), end: make(chan Ending, 1)}
	p.mu.Lock()
	p.streams[s] = true
	p.mu.Unlock()
	go s.receive()
	return s
}

func (s *stream) receive() {
	defer close(s.events)
	for decoder := json.NewDecoder(s.upstream); ; {
		var text json.RawMessage
		if decoder.Decode(&text) != nil {
			return
		}
		var known struct {
			Object struct {
				Metadata struct{ Namespace, Name string }
			}
		}
		_ = json.Unmarshal(text, &known) // an error has no metadata
		object := s.request
		object.Namespace, object.Name = known.Object.Metadata.Namespace, known.Object.Metadata.Name
		select {
		case s.events <- event{append(text, '\n'), object, time.Now()}:
		case <-s.ctx.Done():
			return
		}
	}
}

// Read implements io.Reader.
func (s *stream) Read(into []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.ended != nil {
			return 0, s.ended
		}
		s.next()
	}
	n := copy(into, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next waits for something to return, or for a reason to look again.
func (s *stream) next() {
	events := s.events
	pass, changed := s.passAt()
	if s.head != nil {
		events = nil
	}
	select {
	case e, more := <-events:
		if !more {
			s.ended = io.EOF
			return
		}
		s.head = &e
	case <-pass:
		s.rest, s.head = s.head.text, nil
	case <-changed:
	case how := <-s.end:
		s.ended = io.ErrUnexpectedEOF
		if how == Expired {
			s.ended = io.EOF
			s.rest = []byte(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,` +
				`"message":"injected by a test: too old resource version"}}` + "\n")
		}
	case <-s.ctx.Done():
		s.ended = s.ctx.Err()
	case <-s.proxy.closed:
		s.ended = io.ErrUnexpectedEOF
	}
}

// passAt returns a channel for the time at which the next event may pass; nil if there is none, or it has to wait. The
// other channel is closed when that may have changed.
func (s *stream) passAt() (pass <-chan time.Time, changed <-chan struct{}) {
	s.proxy.mu.Lock()
	defer s.proxy.mu.Unlock()
	changed = s.proxy.changed
	if s.head == nil {
		return nil, changed
	}
	wait := time.Duration(0)
	for _, hold := range s.proxy.holds {
		if !hold.match.matches(&s.head.object) {
			continue
		}
		if hold.by == 0 {
			return nil, changed
		}
		wait = max(wait, hold.by)
	}
	return time.After(max(time.Until(s.head.arrived.Add(wait)), 0)), changed
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.proxy.mu.Lock()
	delete(s.proxy.streams, s)
	s.proxy.mu.Unlock()
	return s.upstream.Close()
}
