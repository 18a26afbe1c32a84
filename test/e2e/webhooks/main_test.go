// Package serving keeps requests in both versions going through the webhooks while what serves them is
// replaced: leaf and CA again and again, with a real cert-manager and without one, and the replicas.
package serving

import (
	"context"
	"flag"
	"path/filepath"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// patience is how long a test waits for what should happen at once; only a failing test takes it.
const patience = 4 * time.Minute

// rotations is how many CAs every manager must have served after its first.
var rotations = flag.Int("rotations", 4, "CAs that are replaced under load in each mode; one takes half a minute or a little more")

// installation is one test's control plane with Kyklos on it.
type installation struct {
	*testing.T
	cluster *harness.Cluster
	admin   client.Client
	// objects reads and writes as the API server speaks.
	objects dynamic.Interface
	// service stands in front of the managers.
	service *service
	log     harness.Log
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	cluster := harness.StartFor(t, "--kubelet=false")
	i := &installation{T: t, cluster: cluster}
	var err error
	i.admin, err = cluster.Client()
	i.must(err)
	i.must(apiextensionsv1.AddToScheme(i.admin.Scheme()))
	config := rest.CopyConfig(cluster.Config)
	config.WarningHandler = rest.NoWarnings{} // the load's scalers have no targets
	i.objects, err = dynamic.NewForConfig(config)
	i.must(err)
	i.service = startService(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the processes logged:\n%s", i.log.String())
		}
	})
	return i
}

// manager starts one replica behind the Service and returns it with its webhooks' port.
func (i *installation) manager(args ...string) (m *harness.Manager, port int) {
	i.Helper()
	m, port = i.start(args...)
	i.service.add(port)
	return m, port
}

func (i *installation) start(args ...string) (m *harness.Manager, port int) {
	i.Helper()
	port, err := harness.FreePort()
	i.must(err)
	m, err = i.cluster.StartManager(i.Context(), harness.ManagerOptions{
		WebhookPort: port, Args: append([]string{"--log-format=text"}, args...), Log: &i.log,
	})
	i.must(err)
	i.Cleanup(func() { _ = m.Stop() })
	return m, port
}

func (i *installation) awaitReady(managers ...*harness.Manager) {
	i.Helper()
	ctx, cancel := context.WithTimeout(i.Context(), patience)
	defer cancel()
	for _, m := range managers {
		i.must(m.AwaitReady(ctx))
	}
}

func (i *installation) eventually(what string, done func() error) {
	i.Helper()
	i.within(patience, what, done)
}

// within is eventually with another patience.
func (i *installation) within(patience time.Duration, what string, done func() error) {
	i.Helper()
	var last error
	err := wait.PollUntilContextTimeout(i.Context(), 100*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		last = done()
		return last == nil, nil
	})
	if err != nil {
		i.Fatalf("never saw %s: %v", what, last)
	}
}

func (i *installation) must(err error) {
	i.Helper()
	if err != nil {
		i.Fatal(err)
	}
}

// folder is a folder of config.
func (i *installation) folder(name string) string {
	i.Helper()
	root, err := harness.Root()
	i.must(err)
	return filepath.Join(root, "config", name)
}
