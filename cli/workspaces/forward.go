package workspaces

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// loopback is where forwarded ports listen: no other machine reaches them.
const loopback = "127.0.0.1"

// Forward forwards a port of this machine to one of a Pod, as kubectl port-forward does, until ctx ends or the connection does. ready is
// called with the local port once connections are accepted. What becomes of single connections is written to errors.
func Forward(ctx context.Context, config *rest.Config, pod types.NamespacedName, local, remote int, errors io.Writer, ready func(port int)) error {
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
	accepting := make(chan struct{})
	forwarder, err := portforward.NewOnAddressesForStreamingWithContext(ctx, dialer, []string{loopback}, []string{fmt.Sprintf("%d:%d", local, remote)}, accepting, io.Discard, errors)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case err := <-ended:
		return err
	case <-accepting:
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return err
	}
	ready(int(ports[0].Local))
	return <-ended
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
