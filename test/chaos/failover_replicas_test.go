package chaos

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

func (s *scenario) replica(identity string) *replica {
	s.Helper()
	port, err := harness.FreePort()
	s.Must(err)
	r := &replica{proxy: s.StartProxy(), identity: identity}
	r.Manager = s.StartManager(harness.ManagerOptions{
		WebhookPort: port, Binary: s.Installation.Movable, Proxy: r.proxy,
		Args: []string{"--requeue-jitter-max=0", "--log-format=text"},
		Env:  []string{s.Clock.Env(), "KYKLOS_LEASE_IDENTITY=" + identity},
	})
	return r
}

// leaderAndStandby starts two managers and settles count scalers whose windows open in a minute.
func (s *scenario) leaderAndStandby(count int) (leader, standby *replica, lease *leaseHistory) {
	s.Helper()
	s.SetClock("2025-01-27 08:59:00")
	for i := range count {
		s.CreatePair(fmt.Sprintf("web-%02d", i), 3, "09:00", "17:00")
	}
	lease = s.followLease()
	leader = s.replica("leader")
	s.Until("a leader", func() bool { return lease.startsWith("leader") })
	standby = s.replica("standby")
	s.AwaitReady(leader.Manager)
	s.AwaitReady(standby.Manager)
	s.AwaitSettled(count, 0)
	return leader, standby, lease
}

// leaseHistory lists the holders of the Lease in order. An empty name means that it was released.
type leaseHistory struct {
	mu    sync.Mutex
	names []string
}

func (l *leaseHistory) holders() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.names)
}

// startsWith reports whether these held the Lease first. On a busy machine a leader may later lose its Lease, because it
// cannot renew it in time.
func (l *leaseHistory) startsWith(names ...string) bool {
	holders := l.holders()
	return slices.Equal(holders[:min(len(holders), len(names))], names)
}

// followLease deletes the Lease of earlier tests and records the holders of the next one.
func (s *scenario) followLease() *leaseHistory {
	s.Helper()
	clients, err := kubernetes.NewForConfig(s.Cluster.Config)
	s.Must(err)
	leases := clients.CoordinationV1().Leases(harness.SystemNamespace)
	left := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: "kyklos-manager"}}
	s.Must(client.IgnoreNotFound(s.Client.Delete(s.Context(), left)))
	watch, err := leases.Watch(s.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + left.Name})
	s.Must(err)
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

// sent returns the writes to targets that the replica has sent.
func (r *replica) sent() []harness.Request {
	return r.proxy.Requests(func(q harness.Request) bool { return q.Is(http.MethodPatch, "/scale") })
}

// arrived returns how many of them did not meet a newer version of the target.
func (r *replica) arrived() int {
	return len(slices.DeleteFunc(r.sent(), func(q harness.Request) bool { return q.Code == http.StatusConflict }))
}

// awaitWritten waits until exactly count Deployments have the replicas in their spec.
func (s *scenario) awaitWritten(count int, replicas int32) {
	s.Helper()
	s.Until(strconv.Itoa(count)+" flips", func() bool {
		var list appsv1.DeploymentList
		s.Must(s.Client.List(s.Context(), &list, client.InNamespace(s.Namespace)))
		return count == len(slices.DeleteFunc(list.Items, func(d appsv1.Deployment) bool { return *d.Spec.Replicas != replicas }))
	})
}

// written checks how often each Deployment with the prefix was changed since it was created.
func (s *scenario) written(prefix string, times int64) {
	s.Helper()
	var list appsv1.DeploymentList
	s.Must(s.Client.List(s.Context(), &list, client.InNamespace(s.Namespace)))
	for i := range list.Items {
		if d := &list.Items[i]; strings.HasPrefix(d.Name, prefix) && d.Generation != 1+times {
			s.Errorf("writes to the target %s: got %d, want %d", d.Name, d.Generation-1, times)
		}
	}
}
