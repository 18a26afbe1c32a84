package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
)

const (
	// managerAccount is the shipped ServiceAccount.
	managerAccount = "kyklos-manager"
	tokenSeconds   = 30 * 24 * 60 * 60
	// firstExtraFile is the path at which a child opens the first of exec.Cmd's ExtraFiles.
	firstExtraFile = "/proc/self/fd/3"
)

// Manager is a running `kyklos manager`.
type Manager struct {
	// HealthURL serves /healthz and /readyz. MetricsURL serves /metrics without TLS.
	HealthURL, MetricsURL string

	process *process
}

// ManagerOptions say how a manager is started.
type ManagerOptions struct {
	WebhookPort int
	// Binary is the manager's path. The default is bin/kyklos.
	Binary string
	// Proxy, if set, is between the manager and the API server.
	Proxy *Proxy
	// Args are further flags.
	Args []string
	// Env are further environment variables, as in os.Environ.
	Env []string
	// Log gets the manager's output, if set.
	Log io.Writer
}

// StartManager runs the manager as the shipped ServiceAccount with its shipped roles. It does not wait; see
// Manager.AwaitReady.
func (c *Cluster) StartManager(ctx context.Context, options ManagerOptions) (*Manager, error) {
	binary, err := options.Binary, error(nil)
	if binary == "" {
		binary, err = Binary("kyklos")
	}
	if err != nil {
		return nil, err
	}
	kubeconfig, err := c.managerKubeconfig(ctx, options.Proxy)
	if err != nil {
		return nil, err
	}
	defer func() { _ = kubeconfig.Close() }()
	health, err := FreePort()
	if err != nil {
		return nil, err
	}
	metrics, err := FreePort()
	if err != nil {
		return nil, err
	}
	args := append([]string{
		"manager", "--kubeconfig", firstExtraFile, "--namespace", SystemNamespace,
		"--webhook-host", "127.0.0.1", "--webhook-port", strconv.Itoa(options.WebhookPort),
		"--health-bind-address", fmt.Sprintf("127.0.0.1:%d", health),
		"--metrics-bind-address", fmt.Sprintf("127.0.0.1:%d", metrics), "--metrics-secure=false",
	}, options.Args...)
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), options.Env...)
	cmd.Stdout, cmd.Stderr = options.Log, options.Log
	cmd.ExtraFiles = []*os.File{kubeconfig}
	child, err := startProcess(cmd)
	if err != nil {
		return nil, err
	}
	return &Manager{
		HealthURL:  fmt.Sprintf("http://127.0.0.1:%d", health),
		MetricsURL: fmt.Sprintf("http://127.0.0.1:%d/metrics", metrics),
		process:    child,
	}, nil
}

// ReadyPath is the readiness probe of the Deployment.
const ReadyPath = "/readyz?exclude=admission&exclude=conversion"

// AwaitReady waits until the manager is ready: its caches are filled and its webhooks can be called.
func (m *Manager) AwaitReady(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		select {
		case <-m.process.done:
			return false, fmt.Errorf("the manager ended: %w", m.process.err)
		default:
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.HealthURL+ReadyPath, nil)
		if err != nil {
			return false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, nil // not listening yet
		}
		defer func() { _ = response.Body.Close() }()
		return response.StatusCode == http.StatusOK, nil
	})
	if err != nil {
		return fmt.Errorf("await the manager: %w", err)
	}
	return nil
}

// Stop stops the manager as a kubelet does, and waits.
func (m *Manager) Stop() error { return m.StopWithin(stopPatience) }

// StopWithin is Stop with another patience.
func (m *Manager) StopWithin(patience time.Duration) error {
	return m.process.stop(syscall.SIGTERM, patience)
}

// Kill kills the manager and waits.
func (m *Manager) Kill() error { return m.process.stop(syscall.SIGKILL, stopPatience) }

// Signal sends a signal and does not wait.
func (m *Manager) Signal(signal os.Signal) error { return m.process.cmd.Process.Signal(signal) }

// OwnMemory is the resident memory, in bytes, that is not part of a file, such as the program itself.
func (m *Manager) OwnMemory() (uint64, error) {
	process, err := procfs.NewProc(m.process.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	status, err := process.NewStatus()
	return status.RssAnon, err
}

// Done is closed when the manager has ended.
func (m *Manager) Done() <-chan struct{} { return m.process.done }

// ManagerConfig is a client configuration with the shipped ServiceAccount's token.
func (c *Cluster) ManagerConfig(ctx context.Context) (*rest.Config, error) {
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return nil, err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](tokenSeconds)}}
	answer, err := clients.CoreV1().ServiceAccounts(SystemNamespace).CreateToken(ctx, managerAccount, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("get a token for the ServiceAccount %s: %w", managerAccount, err)
	}
	config := rest.AnonymousClientConfig(c.Config)
	config.BearerToken = answer.Status.Token
	config.QPS = -1
	return config, nil
}

// managerKubeconfig returns a deleted file, so that none is left behind. A manager reads it again when it starts over.
func (c *Cluster) managerKubeconfig(ctx context.Context, proxy *Proxy) (*os.File, error) {
	config, err := c.ManagerConfig(ctx)
	if err != nil {
		return nil, err
	}
	if proxy != nil {
		config = proxy.configure(config)
	}
	content := clientcmdapi.NewConfig()
	content.Clusters["kyklos"] = &clientcmdapi.Cluster{
		Server: config.Host, CertificateAuthority: config.CAFile, CertificateAuthorityData: config.CAData,
	}
	content.AuthInfos["manager"] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	content.Contexts["manager"] = &clientcmdapi.Context{Cluster: "kyklos", AuthInfo: "manager"}
	content.CurrentContext = "manager"
	file, err := os.CreateTemp("", "kyklos-kubeconfig-")
	if err != nil {
		return nil, err
	}
	return file, errors.Join(clientcmd.WriteToFile(*content, file.Name()), os.Remove(file.Name()))
}
