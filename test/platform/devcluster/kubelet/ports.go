package kubelet

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
)

const (
	// idlePorts is when a forwarded connection without data ends, and createPorts how long a client may take to begin one: as in a kubelet.
	idlePorts   = 4 * time.Hour
	createPorts = 30 * time.Second
)

// servePorts connects a client with ports of a pod's processes.
func (k *Kubelet) servePorts(w http.ResponseWriter, r *http.Request) {
	pod, err := k.client.CoreV1().Pods(r.PathValue("namespace")).Get(r.Context(), r.PathValue("pod"), metav1.GetOptions{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if !RunsOnHost(pod) {
		http.Error(w, noContainers, http.StatusBadRequest)
		return
	}
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, hostPorts{pod}, pod.Name, string(pod.UID), options, idlePorts, createPorts, portforward.SupportedProtocols)
}

// hostPorts are the ports of a pod that are reached from outside. All pods share the machine's network, so these are only those that
// its containers declare: others may be anybody's.
type hostPorts struct{ pod *corev1.Pod }

var _ portforward.PortForwarder = hostPorts{}

// PortForward copies between a client and a port until both have said everything.
func (h hostPorts) PortForward(ctx context.Context, name, _ string, port int32, client io.ReadWriteCloser) error {
	if !h.declares(port) {
		return fmt.Errorf("no container of pod %s declares port %d, and this local cluster forwards only such", name, port)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(nodeAddress, strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	defer conn.Close()
	answered := make(chan error, 1)
	go func() {
		_, err := io.Copy(client, conn)
		answered <- err
	}()
	asked := make(chan error, 1)
	go func() {
		_, err := io.Copy(conn, client)
		if own, ok := conn.(*net.TCPConn); ok && err == nil {
			err = own.CloseWrite()
		}
		asked <- err
	}()
	select {
	case err := <-answered: // the process has said everything
		return err
	case err := <-asked:
		if err != nil {
			return err
		}
		return <-answered
	}
}

func (h hostPorts) declares(port int32) bool {
	for _, container := range all(h.pod) {
		for _, declared := range container.Ports {
			if declared.ContainerPort == port {
				return true
			}
		}
	}
	return false
}
