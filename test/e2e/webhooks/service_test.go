package webhooks

import (
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// service stands in for a Service: it hands each connection to the next of its endpoints.
type service struct {
	listener net.Listener
	// connections counts those that were accepted: as many handshakes by the API server.
	connections atomic.Int64

	mu        sync.Mutex
	endpoints []string
	next      int
}

// startService listens until the test ends.
func startService(t *testing.T) *service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	harness.Must(t, err)
	s := &service{listener: listener}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // closed
			}
			s.connections.Add(1)
			go s.forward(client)
		}
	}()
	return s
}

func (s *service) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// add adds a port of this machine to the endpoints.
func (s *service) add(port int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints = append(s.endpoints, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

// remove takes a port from the endpoints; its connections go on.
func (s *service) remove(port int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints = slices.DeleteFunc(s.endpoints, func(e string) bool { return e == net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) })
}

func (s *service) endpoint() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.endpoints) == 0 {
		return "", errors.New("the Service has no endpoints")
	}
	s.next++
	return s.endpoints[s.next%len(s.endpoints)], nil
}

func (s *service) forward(client net.Conn) {
	defer client.Close()
	endpoint, err := s.endpoint()
	if err != nil {
		return
	}
	server, err := net.Dial("tcp", endpoint)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}
