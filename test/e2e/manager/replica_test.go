package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// replica is one of two managers, with a proxy of its own.
type replica struct {
	*harness.Manager
	proxy *harness.Proxy
	// identity is its name in the Lease.
	identity string
}

func (s *stage) replica(identity string) *replica {
	s.Helper()
	port, err := harness.FreePort()
	s.must(err)
	r := &replica{proxy: s.proxy(), identity: identity}
	r.Manager, err = cluster.StartManager(s.Context(), harness.ManagerOptions{
		WebhookPort: port, Binary: movable, Proxy: r.proxy, Log: &s.log,
		Args: []string{"--requeue-jitter-max=0", "--log-format=text"},
		Env:  []string{s.clockFile.Env(), "KYKLOS_LEASE_IDENTITY=" + identity},
	})
	s.must(err)
	s.Cleanup(func() { _ = r.Kill() })
	return r
}

// leaderAndStandby lets two managers settle count scalers whose windows open in a minute.
func (s *stage) leaderAndStandby(count int) (leader, standby *replica, lease *leaseHistory) {
	s.Helper()
	s.clock("2025-01-27 08:59:00")
	for i := range count {
		s.pair(fmt.Sprintf("web-%02d", i), 3, "09:00", "17:00")
	}
	lease = s.followLease()
	leader = s.replica("leader")
	s.eventually("a leader", func() bool { return lease.began("leader") })
	standby = s.replica("standby")
	s.awaitReady(leader.Manager)
	s.awaitReady(standby.Manager)
	s.awaitSettled(count, 0)
	return leader, standby, lease
}

// leaseHistory is who held the Lease, one after the other; empty is nobody.
type leaseHistory struct {
	mu    sync.Mutex
	names []string
}

func (l *leaseHistory) holders() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.names)
}

// began reports whether these held it first. What comes later is no test's matter: on a starved machine a leader
// can lose its Lease because it cannot renew it in time.
func (l *leaseHistory) began(names ...string) bool {
	holders := l.holders()
	return slices.Equal(holders[:min(len(holders), len(names))], names)
}

// followLease begins with no Lease, and leaves none to the next test.
func (s *stage) followLease() *leaseHistory {
	s.Helper()
	clients, err := kubernetes.NewForConfig(cluster.Config)
	s.must(err)
	leases := clients.CoordinationV1().Leases(harness.SystemNamespace)
	left := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: "kyklos-manager"}}
	s.must(client.IgnoreNotFound(admin.Delete(s.Context(), left)))
	watch, err := leases.Watch(s.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + left.Name})
	s.must(err)
	s.Cleanup(watch.Stop)
	l := &leaseHistory{}
	s.Cleanup(func() {
		if s.Failed() {
			s.Logf("the Lease was held by %q", l.holders())
		}
	})
	go func() {
		for event := range watch.ResultChan() {
			lease, ok := event.Object.(*coordinationv1.Lease)
			if !ok || event.Type == "DELETED" {
				continue
			}
			holder := ptr.Deref(lease.Spec.HolderIdentity, "")
			l.mu.Lock()
			if len(l.names) == 0 || l.names[len(l.names)-1] != holder {
				l.names = append(l.names, holder)
			}
			l.mu.Unlock()
		}
	}()
	return l
}

// scales is how often a replica has asked for a target's count to be written.
func (r *replica) scales() int {
	return len(r.proxy.Requests(func(q harness.Request) bool { return q.Is(http.MethodPatch, "/scale") }))
}

// awaitWritten waits until count Deployments should have the replicas.
func (s *stage) awaitWritten(count int, replicas int32) {
	s.Helper()
	s.eventually(strconv.Itoa(count)+" flips", func() bool {
		var list appsv1.DeploymentList
		s.must(admin.List(s.Context(), &list, client.InNamespace(s.namespace)))
		return count == len(slices.DeleteFunc(list.Items, func(d appsv1.Deployment) bool { return *d.Spec.Replicas != replicas }))
	})
}

// written checks how often each of the Deployments whose name begins so was changed since it was created.
func (s *stage) written(prefix string, times int64) {
	s.Helper()
	var list appsv1.DeploymentList
	s.must(admin.List(s.Context(), &list, client.InNamespace(s.namespace)))
	for i := range list.Items {
		if d := &list.Items[i]; strings.HasPrefix(d.Name, prefix) && d.Generation != 1+times {
			s.Errorf("the target %s was written %d times, want %d", d.Name, d.Generation-1, times)
		}
	}
}

func (s *stage) patch(object client.Object, merge string) {
	s.Helper()
	s.must(admin.Patch(s.Context(), object, client.RawPatch("application/merge-patch+json", []byte(merge))))
}
