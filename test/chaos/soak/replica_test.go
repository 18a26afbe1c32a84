package soak

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"kyklos.io/kyklos/test/harness"
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
			if slices.Contains(harness.WriteVerbs, request.Verb) {
				s.seen(r, request, after)
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

// leaderless is how long there may be no renewal of the Lease. A leader renews it more often than every second.
const leaderless = 5 * time.Second

// leads records that the replica has renewed the Lease. A new leader needs some time to begin.
func (s *soak) leads(r *replica, at time.Time) {
	if last := s.leader(); last != r || at.Sub(last.lastRenewal()) > leaderless {
		s.disturbed(at)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.renewed = at
}
