// Package webhooks sends requests in both versions through the webhooks while their certificates and managers are replaced:
// leaf and CA repeatedly, with a real cert-manager and without one, and the replicas.
package webhooks

import (
	"flag"
	"path/filepath"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"kyklos.io/kyklos/test/harness"
)

// patience is how long a test waits. Only a failing test takes that long.
const patience = 4 * time.Minute

// rotations is how many CAs every manager must serve after its first.
var rotations = flag.Int("rotations", 4, "CAs that are replaced under load in each mode; one takes half a minute or a little more")

// scenario is one test's control plane with Kyklos on it.
type scenario struct {
	*harness.T
	// objects reads and writes without Go types.
	objects dynamic.Interface
	// service is in front of the managers.
	service *service
}

func newScenario(t *testing.T) *scenario {
	t.Helper()
	s := &scenario{T: harness.NewT(t, harness.StartFor(t, "--kubelet=false")), service: startService(t)}
	s.Patience = patience
	s.Must(apiextensionsv1.AddToScheme(s.Client.Scheme()))
	config := rest.CopyConfig(s.Cluster.Config)
	config.WarningHandler = rest.NoWarnings{} // the load's scalers have no targets
	var err error
	s.objects, err = dynamic.NewForConfig(config)
	s.Must(err)
	return s
}

// manager starts one replica behind the Service and returns it with its webhooks' port.
func (s *scenario) manager(args ...string) (m *harness.Manager, port int) {
	s.Helper()
	m, port = s.start(args...)
	s.service.add(port)
	return m, port
}

func (s *scenario) start(args ...string) (m *harness.Manager, port int) {
	s.Helper()
	port, err := harness.FreePort()
	s.Must(err)
	return s.StartManager(harness.ManagerOptions{WebhookPort: port, Args: append([]string{"--log-format=text"}, args...)}), port
}

// folder is a folder of config.
func (s *scenario) folder(name string) string {
	s.Helper()
	return filepath.Join(harness.RootFor(s), "config", name)
}
