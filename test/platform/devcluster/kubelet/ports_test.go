package kubelet

import (
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// A client and a process say everything to each other, whoever ends first; and no port is reached that the pod does not declare.
func TestForwardedPorts(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", net.JoinHostPort(nodeAddress, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() { // a process that answers when it has heard everything
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		asked, _ := io.ReadAll(conn)
		_, _ = conn.Write([]byte(strings.ToUpper(string(asked))))
	}()
	_, text, _ := net.SplitHostPort(listener.Addr().String())
	port, _ := strconv.Atoi(text)
	own := pod(nil)
	own.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: int32(port)}}}}
	client := &caller{asks: strings.NewReader("hello")}
	if err := (hostPorts{own}).PortForward(t.Context(), own.Name, "", int32(port), client); err != nil || client.heard.String() != "HELLO" {
		t.Errorf("heard %q: %v", client.heard.String(), err)
	}
	err = (hostPorts{own}).PortForward(t.Context(), own.Name, "", int32(port)+1, client)
	if err == nil || !strings.Contains(err.Error(), "declares port") {
		t.Errorf("a port that is not declared: %v", err)
	}
}

// caller is a client that asks, and hears the answer.
type caller struct {
	asks  io.Reader
	heard strings.Builder
}

func (c *caller) Read(into []byte) (int, error)  { return c.asks.Read(into) }
func (c *caller) Write(text []byte) (int, error) { return c.heard.Write(text) }
func (*caller) Close() error                     { return nil }
