package harness

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Patience is how long a test waits for something that should happen soon. Only a failing test takes that long.
const Patience = 3 * time.Minute

// A wait polls often at first, and less often the longer it takes.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 100 * time.Millisecond
)

// T is a test against a control plane.
type T struct {
	testing.TB
	Cluster *Cluster
	// Client is the admin's.
	Client client.WithWatch
	// ManagerLog gets what the test's managers log. It is printed if the test fails.
	ManagerLog *Log
	// Patience, if set, replaces the constant.
	Patience time.Duration
	// Pause, if set, is the time between two polls.
	Pause time.Duration
}

// NewT returns a test that uses cluster.
func NewT(t testing.TB, cluster *Cluster) *T {
	t.Helper()
	admin, err := cluster.Client()
	Must(t, err)
	log := &Log{}
	t.Cleanup(func() {
		if text := log.String(); t.Failed() && text != "" {
			t.Logf("the managers logged:\n%s", text)
		}
	})
	return &T{TB: t, Cluster: cluster, Client: admin, ManagerLog: log}
}

// Must ends the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Must ends the test if there is an error.
func (t *T) Must(err error) {
	t.Helper()
	Must(t.TB, err)
}

func (t *T) patience() time.Duration { return cmp.Or(t.Patience, Patience) }

// Eventually polls until check returns nil, and otherwise ends the test with its last error.
func (t *T) Eventually(what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(t.patience())
	for pause := firstPause; ; pause = min(pause*5/4, longestPause) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never saw %s: %v", what, err)
		}
		time.Sleep(cmp.Or(t.Pause, pause))
	}
}

// Until polls until done returns true.
func (t *T) Until(what string, done func() bool) {
	t.Helper()
	t.Eventually(what, func() error {
		if !done() {
			return errors.New("not so")
		}
		return nil
	})
}

// Until polls like T.Until, for a test without a T.
func Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	(&T{TB: t}).Until(what, done)
}

// StartManager starts a manager that is killed when the test ends.
func (t *T) StartManager(options ManagerOptions) *Manager {
	t.Helper()
	if options.Log == nil {
		options.Log = t.ManagerLog
	}
	m, err := t.Cluster.StartManager(t.Context(), options)
	t.Must(err)
	t.Cleanup(func() { _ = m.Kill() })
	return m
}

// AwaitReady waits until the managers are ready.
func (t *T) AwaitReady(managers ...*Manager) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), t.patience())
	defer cancel()
	for _, m := range managers {
		t.Must(m.AwaitReady(ctx))
	}
}

// StartProxy starts a proxy in front of the API server. It is closed when the test ends.
func (t *T) StartProxy() *Proxy {
	t.Helper()
	proxy, err := t.Cluster.StartProxy()
	t.Must(err)
	t.Cleanup(proxy.Close)
	return proxy
}

// Kubectl runs kubectl as the admin.
func (t *T) Kubectl(stdin string, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, err := t.Cluster.Kubectl(t.Context(), stdin, args...)
	t.Must(err)
	return stdout, stderr
}

// NewNamespace creates a namespace and deletes it when the test ends.
func (t *T) NewNamespace(prefix string) (name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}
	t.Must(t.Client.Create(t.Context(), namespace))
	t.Cleanup(func() { _ = t.Client.Delete(context.Background(), namespace) })
	return namespace.Name
}

// Get reads an object.
func (t *T) Get(namespace, name string, object client.Object) {
	t.Helper()
	t.Must(t.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object))
}

// List reads the objects of a namespace.
func (t *T) List(namespace string, list client.ObjectList) {
	t.Helper()
	t.Must(t.Client.List(t.Context(), list, client.InNamespace(namespace)))
}

// Patch merges JSON into an object.
func (t *T) Patch(object client.Object, merge string) {
	t.Helper()
	t.Must(t.Client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(merge))))
}
