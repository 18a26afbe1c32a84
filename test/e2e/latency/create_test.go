package latency

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/bench"
	"kyklos.io/kyklos/test/harness"
)

const (
	pairs   = 1000 // creations of each kind
	targets = 100  // so many that a schedule for the same target is out of the manager's cache before the next one
	// bare is the label of the namespaces that the webhooks leave alone, and empty of those with webhooks that do nothing.
	bare, empty = "example.com/without-webhooks", "example.com/empty-webhooks"
)

var sizes = bench.Counts("schedules", []int{10, 10000}, "how many other schedules there are, in ascending order")

// BenchmarkCreate measures how long creating a schedule takes with the webhooks and without, beside 10 schedules and beside
// 10,000. Each creation with them is followed or preceded by one without, in a namespace that the webhook configurations
// leave out, and by one with webhooks that do nothing, so that a busy
// machine affects all. The author is a ServiceAccount with the role edit, as a GitOps tool has
// it, and the target exists. etcd syncs its files, as in production. It asserts no duration.
func BenchmarkCreate(b *testing.B) {
	s := newScenario(b)
	for range b.N {
		for _, others := range *sizes {
			s.crowd(others)
			manager := s.StartManager(harness.ManagerOptions{WebhookPort: s.port, Args: []string{"--leader-elect=false"}})
			s.AwaitReady(manager)
			s.quiet(manager)
			s.compare(manager, others)
			s.Must(manager.Stop())
		}
	}
}

type scenario struct {
	*harness.T
	author        client.Client
	port, crowded int
	// checked is the namespace with webhooks, others the one without, and floor the one with webhooks that do nothing.
	checked, others, floor string
}

func newScenario(b *testing.B) *scenario {
	etcd, err := harness.StartEtcd(b.Context(), b.TempDir(), "--unsafe-no-fsync=false")
	harness.Must(b, err)
	b.Cleanup(func() { _ = etcd.Kill() })
	s := &scenario{T: harness.NewT(b, harness.StartFor(b, append(etcd.OnEtcd(), "--kubelet=false")...))}
	s.port, err = harness.FreePort()
	s.Must(err)
	s.Must(s.Cluster.InstallFrom(b.Context(), filepath.Join(harness.RootFor(b), "config", harness.SelfManaged), s.port, leaveOutBare))
	s.checked, s.others, s.floor = s.NewNamespace("with-"), s.NewNamespace("without-"), s.NewNamespace("floor-")
	s.Patch(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.others}}, fmt.Sprintf(`{"metadata":{"labels":{%q:"true"}}}`, bare))
	s.Patch(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.floor}}, fmt.Sprintf(`{"metadata":{"labels":{%q:"true",%q:"true"}}}`, bare, empty))
	for i := range targets {
		for _, namespace := range s.namespaces() {
			s.Must(s.Client.Create(b.Context(), harness.NewDeployment(namespace, fmt.Sprintf("web-%d", i), 0)))
		}
	}
	s.startFloor(empty)
	s.author = s.newAuthor()
	return s
}

func (s *scenario) namespaces() []string { return []string{s.checked, s.others, s.floor} }

// leaveOutBare makes the webhooks leave out the namespaces with the label.
func leaveOutBare(object *unstructured.Unstructured) error {
	return harness.EachWebhook(object, func(webhook map[string]any) error {
		webhook["namespaceSelector"] = map[string]any{"matchExpressions": []any{map[string]any{"key": bare, "operator": "DoesNotExist"}}}
		return nil
	})
}

// newAuthor is a client of a ServiceAccount that may edit in all namespaces.
func (s *scenario) newAuthor() client.Client {
	for _, role := range []string{"edit", "kyklos-edit"} {
		for _, namespace := range s.namespaces() {
			s.Kubectl("", "create", "rolebinding", role, "-n", namespace, "--clusterrole="+role, "--serviceaccount="+s.checked+":author")
		}
	}
	s.Kubectl("", "create", "serviceaccount", "author", "-n", s.checked)
	clients, err := kubernetes.NewForConfig(s.Cluster.Config)
	s.Must(err)
	answer, err := clients.CoreV1().ServiceAccounts(s.checked).CreateToken(s.Context(), "author", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	s.Must(err)
	config := rest.AnonymousClientConfig(s.Cluster.Config)
	config.BearerToken, config.QPS, config.WarningHandler = answer.Status.Token, -1, rest.NoWarnings{}
	author, err := client.New(config, client.Options{Scheme: s.Client.Scheme()})
	s.Must(err)
	return author
}

// crowd fills the namespace with schedules while no manager runs. They are paused, and never due.
func (s *scenario) crowd(count int) {
	var group errgroup.Group
	group.SetLimit(16)
	for ; s.crowded < count; s.crowded++ {
		other := schedule(s.checked, fmt.Sprintf("other-%d", s.crowded))
		other.Spec.Pause = true
		group.Go(func() error { return s.Client.Create(s.Context(), other) })
	}
	s.Must(group.Wait())
}

// schedule is one of office hours, as people write it, for the target of the same name.
func schedule(namespace, name string) *v1beta1.TimeWindowScaler {
	days := []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri"}
	return &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{Kind: "Deployment", Name: name}, Timezone: "Europe/Berlin",
		Windows: []v1beta1.Window{{Days: days, Start: "09:00", End: "17:00"}},
	}}
}

// compare records the durations beside count other schedules.
func (s *scenario) compare(manager *harness.Manager, count int) {
	for i := range targets / 2 { // connections, caches
		for _, namespace := range s.namespaces() {
			s.took(namespace, i)
		}
	}
	handled, called := s.handled(manager), s.called()
	all := map[string][]time.Duration{}
	for i := range pairs {
		for n := range s.namespaces() {
			namespace := s.namespaces()[(i+n)%3]
			all[namespace] = append(all[namespace], s.took(namespace, i))
		}
	}
	for _, q := range []struct {
		name     string
		at, goal float64
	}{{"median", 0.5, 1.2}, {"99th percentile", 0.99, 1.5}} {
		s.record(count, q.name, q.goal, quantile(all[s.checked], q.at), quantile(all[s.others], q.at))
		s.record(count, q.name+", webhooks that do nothing", 0, quantile(all[s.floor], q.at), quantile(all[s.others], q.at))
	}
	s.recordMeans(manager, count, handled, called)
}

// took is how long a creation takes.
func (s *scenario) took(namespace string, i int) time.Duration {
	object := schedule(namespace, fmt.Sprintf("web-%d", i%targets))
	started := time.Now()
	s.Must(s.author.Create(s.Context(), object))
	took := time.Since(started)
	s.Must(s.author.Delete(s.Context(), object))
	return took
}

func (s *scenario) record(count int, what string, goal float64, with, without time.Duration) {
	bench.Record(s.TB, bench.Figure{
		Area: "admission", What: fmt.Sprintf("beside %d: %s", count, what), Unit: "ms", Goal: goal,
		Value: milliseconds(with), Floor: milliseconds(without), Beside: "without webhooks",
	})
}

// recordMeans records how long each webhook took on average, since these totals.
func (s *scenario) recordMeans(manager *harness.Manager, count int, handled, called map[string]totals) {
	for path, name := range webhooks {
		mean := func(what string, before, after totals) {
			bench.Record(s.TB, bench.Figure{
				Area: "admission", What: fmt.Sprintf("beside %d: mean of %s, %s", count, name, what), Unit: "ms",
				Value: 1000 * (after.seconds - before.seconds) / (after.count - before.count),
			})
		}
		mean("for the API server", called[name], s.called()[name])
		mean("in the manager", handled[path], s.handled(manager)[path])
	}
}

// webhooks are the names of those that are called, by their path.
var webhooks = map[string]string{
	"/mutate-kyklos-io-v1beta1-timewindowscaler":   "default.timewindowscaler.kyklos.io",
	"/validate-kyklos-io-v1beta1-timewindowscaler": "validate.timewindowscaler.kyklos.io",
}

func quantile(all []time.Duration, q float64) time.Duration {
	slices.Sort(all)
	return all[int(q*float64(len(all)-1))]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
