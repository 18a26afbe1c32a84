package soak

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// replica is one of the managers, with a proxy of its own.
type replica struct {
	name  string
	proxy *harness.Proxy
	port  int
	log   *os.File

	mu      sync.Mutex
	manager *harness.Manager
	renewed time.Time // its Lease
}

// startReplicas starts both managers and waits until one of them leads.
func (s *soak) startReplicas() {
	for _, name := range []string{"a", "b"} {
		port, err := harness.FreePort()
		harness.Must(s.T, err)
		if name == "a" {
			port = s.webhook // the webhooks of the other one are never called
		}
		log, err := os.Create(filepath.Join(s.dir, "manager-"+name+".log"))
		harness.Must(s.T, err)
		s.Cleanup(func() { _ = log.Close() })
		proxy, err := s.cluster.StartProxy()
		harness.Must(s.T, err)
		s.Cleanup(proxy.Close)
		proxy.Seed(*seed)
		r := &replica{name: name, proxy: proxy, port: port, log: log}
		proxy.Inject(func(request harness.Request, after bool) {
			if after {
				s.answered(r, request)
			}
		})
		s.replicas = append(s.replicas, r)
		s.start(r)
		s.Cleanup(func() { _ = r.manager.Kill() })
		harness.Must(s.T, r.manager.AwaitReady(s.Context()))
	}
}

// start starts a manager, if need be when the API server is back.
func (s *soak) start(r *replica) {
	for {
		m, err := s.cluster.StartManager(s.Context(), harness.ManagerOptions{
			WebhookPort: r.port, Proxy: r.proxy, Log: r.log, Env: []string{"KYKLOS_LEASE_IDENTITY=" + r.name},
			Args: []string{"--requeue-jitter-max=0", "--log-format=text"},
		})
		if err == nil {
			r.mu.Lock()
			r.manager = m
			r.mu.Unlock()
			go s.watchExit(r, m)
			return
		}
		if !s.pause(time.Second) {
			return
		}
	}
}

// watchExit reports a manager that ends though nobody killed it.
func (s *soak) watchExit(r *replica, m *harness.Manager) {
	select {
	case <-m.Done():
	case <-s.Context().Done():
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.manager == m {
		s.failed("manager %s exited", r.name)
	}
}

// take takes the manager away from watchExit, to end it.
func (r *replica) take() *harness.Manager {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.manager
	r.manager = nil
	return m
}

func (r *replica) signal(signal syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.manager != nil {
		_ = r.manager.Signal(signal)
	}
}

// leader returns the replica that renewed the Lease last.
func (s *soak) leader() *replica {
	return slices.MaxFunc(s.replicas, func(a, b *replica) int { return a.lastRenewal().Compare(b.lastRenewal()) })
}

func (r *replica) lastRenewal() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.renewed
}

// answered is called when the API server has answered a request of a manager.
func (s *soak) answered(r *replica, request harness.Request) {
	if request.Code >= http.StatusMultipleChoices || !slices.Contains(harness.WriteVerbs, request.Verb) {
		return
	}
	if request.Resource == "leases" {
		r.mu.Lock()
		r.renewed = request.At
		r.mu.Unlock()
		return
	}
	o := s.byKey[request.Resource+"/"+request.Namespace+"/"+request.Name]
	if o == nil || request.Subresource == "status" {
		return
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(request.Body), &body); err != nil {
		if o.kind.TargetKind == fixtures.Homes && request.Body[0] == '[' { // its own controller's patches
			return
		}
		s.failed("%s: manager %s wrote what is no JSON: %s", o.key(), r.name, request.Body)
		return
	}
	count := o.kind.Count(body)
	if count < 0 {
		if o.kind.TargetKind != fixtures.Homes { // its own controller writes other fields
			s.failed("%s: manager %s wrote something else than a count: %s", o.key(), r.name, request.Body)
		}
		return
	}
	s.judge(r, o, write{request.At, count, r.name}, body, request.Body)
}

func (s *soak) judge(r *replica, o *object, w write, body map[string]any, text string) {
	if others := otherFields(body, ""); len(others) > 0 {
		s.failed("%s: manager %s wrote the fields %v: %s", o.key(), r.name, others, text)
	}
	err := o.wrote(w)
	s.mu.Lock()
	s.writes++
	if _, since, ok := o.want(w.at); ok && s.active == 0 && since.After(s.calmSince.Add(*patience)) && since.Equal(since.Truncate(time.Second)) {
		s.late = append(s.late, w.at.Sub(since))
	}
	s.mu.Unlock()
	if err != nil {
		s.failed("%s: %v\n%s", o.key(), err, o.history())
	}
}

// otherFields returns the fields of a patch that a schedule has no business with.
func otherFields(value map[string]any, path string) (others []string) {
	for key, inner := range value {
		at := path + "." + key
		if fields, nested := inner.(map[string]any); nested {
			others = append(others, otherFields(fields, at)...)
		} else if !slices.Contains([]string{
			".metadata.resourceVersion", ".metadata.uid", ".spec.replicas", ".spec.desiredState", ".spec.template.spec.nodeSelector.kyklos.io/suspended",
		}, at) {
			others = append(others, at)
		}
	}
	return others
}

// pause waits. It returns false if the run is over.
func (s *soak) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.Context().Done():
		return false
	}
}

// try calls until there is no error, while the API server may be away.
func (s *soak) try(call func(ctx context.Context) error) {
	for {
		ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second)
		err := call(ctx)
		cancel()
		if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsNotFound(err) {
			s.failed("a call of the test is refused: %v", err)
			return
		}
		if err == nil || !s.pause(500*time.Millisecond) {
			return
		}
	}
}
