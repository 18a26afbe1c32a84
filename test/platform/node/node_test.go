// Package node runs the shipped image as real pods: a kubelet, containerd and kube-proxy join the control plane of the
// other tests. `make test-node` prepares what it needs, including root. Otherwise it is skipped.
package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

var (
	cluster *harness.Cluster
	admin   client.Client
	// dir is where the node writes. binaries is what make test-node has built and downloaded.
	dir      = os.Getenv("NODE_DIR")
	address  = os.Getenv("NODE_ADDRESS")
	binaries = os.Getenv("NODE_BINARIES")
	// imageTag is the VERSION of make image.
	imageTag = os.Getenv("NODE_IMAGE_VERSION")
)

func TestMain(m *testing.M) {
	if dir == "" {
		fmt.Println("skipped: a real node needs root and programs that `make test-node` prepares")
		return
	}
	harness.RunTests(m, prepare)
}

func prepare(ctx context.Context, s *harness.Suite) (err error) {
	ctrl.SetLogger(logr.Discard()) // the client's own log says nothing that its errors do not
	if cluster, err = harness.Start(ctx, filepath.Join(dir, "cluster"), "--kubelet=false",
		"--apiserver-arg=--kubelet-preferred-address-types=InternalIP"); err != nil {
		return err
	}
	s.AtEnd(func() error { return errors.Join(cluster.Stop(), keepLogs()) })
	if admin, err = cluster.Client(); err != nil {
		return err
	}
	if err := publishAPIServer(ctx); err != nil {
		return err
	}
	return startNode(ctx)
}

// publishAPIServer makes the API server, which listens on loopback, available to pods: at the node's address, behind the
// Service kubernetes.
func publishAPIServer(ctx context.Context) error {
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return err
	}
	backend := strings.TrimPrefix(cluster.Config.Host, "https://")
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go forward(connection, backend)
		}
	}()
	return admin.Create(ctx, &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "kubernetes", Namespace: "default", Labels: map[string]string{discoveryv1.LabelServiceName: "kubernetes"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{address}}},
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("https"), Port: ptr.To(int32(listener.Addr().(*net.TCPAddr).Port))}},
	})
}

func forward(client net.Conn, backend string) {
	defer client.Close()
	server, err := net.Dial("tcp", backend)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(client, server)
}

// startNode starts the programs of a node, imports the images, and waits until the node is ready. They end with the
// test's namespaces.
func startNode(ctx context.Context) error {
	for name, text := range configurations() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	realnode := filepath.Join(binaries, "realnode")
	kubeconfig := "--kubeconfig=" + cluster.Kubeconfig
	if err := start("containerd", filepath.Join(binaries, "containerd"), "--config", filepath.Join(dir, "containerd.toml")); err != nil {
		return err
	}
	if err := importImages(ctx); err != nil {
		return err
	}
	for _, program := range [][]string{
		{"kube-controller-manager", kubeconfig, "--leader-elect=false", "--secure-port=0",
			"--controllers=endpointslice-controller,node-lifecycle-controller,taint-eviction-controller"},
		{"kube-scheduler", kubeconfig, "--leader-elect=false", "--secure-port=0"},
		{"kube-proxy", "--config=" + filepath.Join(dir, "kube-proxy.yaml")},
		{"kubelet", kubeconfig, "--config=" + filepath.Join(dir, "kubelet.yaml"), "--root-dir=" + filepath.Join(dir, "kubelet"),
			"--cert-dir=" + filepath.Join(dir, "kubelet-pki"), "--node-ip=" + address, "--hostname-override=node"},
	} {
		if err := start(program[0], realnode, program...); err != nil {
			return err
		}
	}
	if err := until(ctx, time.Minute, func() error {
		_, _, err := cluster.Kubectl(ctx, "", "get", "node", "node")
		return err
	}); err != nil {
		return fmt.Errorf("the kubelet did not register: %w", err)
	}
	_, _, err := cluster.Kubectl(ctx, "", "wait", "--for=condition=Ready", "--timeout=5m", "node/node")
	return err
}

// start runs a program with its own log.
func start(name, path string, args ...string) error {
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = log, log
	debian := filepath.Join(binaries, "debian")
	libraries, err := filepath.Glob(filepath.Join(debian, "usr/lib/*-linux-gnu"))
	if err != nil {
		return err
	}
	cmd.Env = append(os.Environ(),
		"PATH="+strings.Join([]string{binaries, filepath.Join(debian, "usr/sbin"), os.Getenv("PATH")}, ":"),
		"LD_LIBRARY_PATH="+strings.Join(libraries, ":"))
	return cmd.Start()
}

// keepLogs copies the programs' logs out of the node.
func keepLogs() error {
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return err
	}
	kept := filepath.Join(binaries, "logs")
	if err := os.MkdirAll(kept, 0o755); err != nil {
		return err
	}
	for _, log := range logs {
		content, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(kept, filepath.Base(log)), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// until calls try until it succeeds. After patience the error is the last one.
func until(ctx context.Context, patience time.Duration, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}
