package storm

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kyklos.io/kyklos/test/harness"
)

// bareClient patches scale subresources as fast as the API server can, and does nothing else.
type bareClient struct {
	*scenario
	prefix  string
	clients []*kubernetes.Clientset
}

// newBareClient opens the connections. It patches the Deployments with the prefix.
func (s *scenario) newBareClient(prefix string, connections int) *bareClient {
	s.Helper()
	c := &bareClient{scenario: s, prefix: prefix}
	for range connections {
		config := rest.CopyConfig(s.Cluster.Config)
		config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil } // so that it shares no connection
		client, err := kubernetes.NewForConfig(config)
		s.Must(err)
		_, err = client.AppsV1().Deployments(s.Namespace).List(s.Context(), metav1.ListOptions{Limit: 1})
		s.Must(err)
		c.clients = append(c.clients, client)
	}
	return c
}

// flip sets the replicas of all Deployments and returns how long it took until a watch had seen the last one.
func (c *bareClient) flip(replicas int32) time.Duration {
	c.Helper()
	var all errgroup.Group
	var start time.Time
	_, last := ends(c.watch(c.prefix, replicas, func() {
		start = time.Now()
		for worker := range c.clients {
			all.Go(func() error {
				for i := worker; i < c.count; i += len(c.clients) {
					if err := c.scale(worker, nameOf(c.prefix, i), replicas); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}))
	c.Must(all.Wait())
	return last.Sub(start)
}

// scale sends one PATCH over one of the connections.
func (c *bareClient) scale(connection int, name string, replicas int32) error {
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	_, err := c.clients[connection].AppsV1().Deployments(c.Namespace).Patch(c.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, "scale")
	return err
}

// cost is what a manager has done since its start.
type cost struct{ cpu, scales, statuses, events, refused, conversions float64 }

func (s *scenario) costs(manager *harness.Manager) cost {
	s.Helper()
	clients, err := kubernetes.NewForConfig(s.Cluster.Config)
	s.Must(err)
	text, err := clients.RESTClient().Get().AbsPath("/metrics").DoRaw(s.Context())
	s.Must(err)
	var c cost
	for _, sample := range harness.ParseSamples(text) {
		if sample.Name != "apiserver_request_total" {
			continue
		}
		labels := parseLabels(sample.Labels)
		if labels["code"] == "429" {
			continue // it is sent again
		}
		switch labels["verb"] + " " + labels["resource"] + "/" + labels["subresource"] {
		case "PATCH deployments/scale":
			c.scales += sample.Value
		case "PATCH timewindowscalers/status":
			c.statuses += sample.Value
		case "POST events/", "PATCH events/":
			c.events += sample.Value
		}
	}
	for _, sample := range s.Samples(manager) { // one scrape: each costs the manager CPU
		switch sample.Name {
		case "process_cpu_seconds_total":
			c.cpu += sample.Value
		case "kyklos_conversions_total":
			c.conversions += sample.Value
		case "rest_client_requests_total":
			if parseLabels(sample.Labels)["code"] == "429" {
				c.refused += sample.Value
			}
		}
	}
	return c
}

func (c cost) minus(before cost) cost {
	return cost{c.cpu - before.cpu, c.scales - before.scales, c.statuses - before.statuses, c.events - before.events, c.refused - before.refused, c.conversions - before.conversions}
}
