// Package installation holds the shipped manifests to what they promise: the API server takes the pods,
// and the manager does all that its roles allow it and tries nothing else.
package installation

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/controlplane"
)

// patience is how long a test waits for what should happen at once; only a failing test takes it.
const patience = 90 * time.Second

// site is a cluster with one installation of Kyklos.
type site struct {
	*testing.T
	cluster *controlplane.Cluster
	admin   client.Client
	port    int
	log     controlplane.Log
}

// newSite starts a cluster that keeps an audit log and installs what is in a folder of config.
func newSite(t *testing.T, folder string, args ...string) *site {
	t.Helper()
	s := &site{T: t}
	var err error
	s.cluster, err = controlplane.Start(t.Context(), filepath.Join(t.TempDir(), "cluster"), append(args, controlplane.AuditLog)...)
	s.must(err)
	t.Cleanup(func() {
		_ = s.cluster.Stop()
		if t.Failed() {
			t.Logf("the managers logged:\n%s", s.log.String())
		}
	})
	s.port, err = controlplane.FreePort()
	s.must(err)
	root, err := controlplane.Root()
	s.must(err)
	s.must(s.cluster.InstallFrom(t.Context(), filepath.Join(root, "config", folder), s.port))
	s.admin, err = s.cluster.Client()
	s.must(err)
	return s
}

// manager starts a manager and waits until it is ready.
func (s *site) manager(options controlplane.ManagerOptions) *controlplane.Manager {
	s.Helper()
	options.WebhookPort, options.Log = s.port, &s.log
	options.Args = append([]string{"--requeue-jitter-max=0", "--log-format=text", "--storage-migration-delay=0"}, options.Args...)
	m, err := s.cluster.StartManager(s.Context(), options)
	s.must(err)
	s.Cleanup(func() { _ = m.Kill() })
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	s.must(m.AwaitReady(ctx))
	return m
}

// kubectl runs kubectl as the admin.
func (s *site) kubectl(stdin string, args ...string) (stdout, stderr string) {
	s.Helper()
	stdout, stderr, err := s.cluster.Kubectl(s.Context(), stdin, args...)
	s.must(err)
	return stdout, stderr
}

// reads waits until kubectl get prints what is wanted of an object.
func (s *site) reads(want string, args ...string) {
	s.Helper()
	got := ""
	s.eventually(fmt.Sprintf("%v say %q", args, want), func() bool {
		got, _, _ = s.cluster.Kubectl(s.Context(), "", append([]string{"get"}, args...)...)
		return got == want
	}, func() { s.Logf("it says %q", got) })
}

// eventually gives up after patience, and then calls those of otherwise.
func (s *site) eventually(what string, done func() bool, otherwise ...func()) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, patience, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		for _, say := range otherwise {
			say()
		}
		s.Fatalf("never saw %s", what)
	}
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}
