package workspaces

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"

	"kyklos.io/kyklos/cli/manifest"
)

// loopback is where forwarded ports listen: no other machine reaches them.
const loopback = "127.0.0.1"

// Lost is the error of a connection to a Pod that stood, and ended.
type Lost struct {
	// Cause is what the Pod's node said about the last connection; "" if nothing.
	Cause string
}

func (l Lost) Error() string {
	if l.Cause == "" {
		return "the connection was lost"
	}
	return l.Cause
}

// complaints take what the library would log about single connections: people get the last one as a sentence.
type complaints struct {
	port int
	last atomic.Pointer[string]
}

func (c *complaints) Init(logr.RuntimeInfo)                     {}
func (c *complaints) Enabled(int) bool                          { return false }
func (c *complaints) Info(int, string, ...any)                  {}
func (c *complaints) WithValues(...any) logr.LogSink            { return c }
func (c *complaints) WithName(string) logr.LogSink              { return c }
func (c *complaints) Error(err error, message string, _ ...any) { c.take(err, message) }

func (c *complaints) take(err error, message string) {
	text := message
	if err != nil {
		text = fmt.Sprintf("%s: %v", message, err)
		if strings.Contains(err.Error(), "connection refused") {
			text = fmt.Sprintf("nothing listens on port %d of the Workspace, or not yet", c.port)
		}
	}
	text = manifest.Printable(text)
	c.last.Store(&text)
}

// lost is the error of a connection that stood.
func (c *complaints) lost() Lost {
	if last := c.last.Load(); last != nil {
		return Lost{*last}
	}
	return Lost{}
}

// Forward forwards a port of this machine to one of a Pod, as kubectl port-forward does, until ctx ends, or the connection does, which is
// a Lost. ready is called with the local port once connections are accepted.
func Forward(ctx context.Context, config *rest.Config, pod types.NamespacedName, local, remote int, ready func(port int)) error {
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return err
	}
	url := core.RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return err
	}
	tunnel, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, config)
	if err != nil {
		return err
	}
	// API servers, and proxies before them, that know no WebSockets know SPDY.
	dialer := portforward.NewFallbackDialerForStreaming(tunnel, spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, url),
		func(err error) bool { return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err) })
	accepting, connections := make(chan struct{}), &complaints{port: remote}
	forwarder, err := portforward.NewOnAddressesForStreamingWithContext(klog.NewContext(ctx, logr.New(connections)), dialer, []string{loopback}, []string{fmt.Sprintf("%d:%d", local, remote)}, accepting, io.Discard, io.Discard)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case err := <-ended:
		switch {
		case err == nil: // ctx has ended
			return Lost{}
		case strings.Contains(err.Error(), "unable to listen"):
			return fmt.Errorf("port %d of this machine is in use: choose another one with --local-port", local)
		}
		return err
	case <-accepting:
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return err
	}
	ready(int(ports[0].Local))
	if <-ended == nil { // ctx has ended
		return Lost{}
	}
	return connections.lost() // what the node said says more than the error
}

// LocalPort is the wanted port if this program may listen there, and else 0, for any.
func LocalPort(ctx context.Context, wanted int) int {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(loopback, strconv.Itoa(wanted)))
	if err != nil {
		return 0
	}
	_ = listener.Close()
	return wanted
}

// URL is where a browser finds a local port.
func URL(port int) string { return "http://" + net.JoinHostPort(loopback, strconv.Itoa(port)) }
