package latency

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"

	"kyklos.io/kyklos/test/harness"
)

// totals are those of a histogram.
type totals struct{ seconds, count float64 }

// handled is how long the manager took for each webhook, by path.
func (s *scenario) handled(manager *harness.Manager) map[string]totals {
	found := map[string]totals{}
	for path := range webhooks {
		const name = "controller_runtime_webhook_latency_seconds"
		labels := fmt.Sprintf("{webhook=%q}", path)
		found[path] = totals{s.Sum(manager, name+"_sum"+labels), s.Sum(manager, name+"_count"+labels)}
	}
	return found
}

// called is how long the API server waited for each webhook, by name.
func (s *scenario) called() map[string]totals {
	clients, err := kubernetes.NewForConfig(s.Cluster.Config)
	s.Must(err)
	text, err := clients.RESTClient().Get().AbsPath("/metrics").DoRaw(s.Context())
	s.Must(err)
	found := map[string]totals{}
	for _, sample := range harness.ParseSamples(text) {
		for _, name := range webhooks {
			if !strings.Contains(sample.Labels, `name="`+name+`"`) {
				continue
			}
			sum := found[name]
			switch sample.Name {
			case "apiserver_admission_webhook_admission_duration_seconds_sum":
				sum.seconds += sample.Value
			case "apiserver_admission_webhook_admission_duration_seconds_count":
				sum.count += sample.Value
			}
			found[name] = sum
		}
	}
	return found
}

// quiet waits until the manager sends no requests any more.
func (s *scenario) quiet(manager *harness.Manager) {
	for last := -1.0; ; {
		now := s.Sum(manager, "rest_client_requests_total")
		if now == last {
			return
		}
		last = now
		time.Sleep(5 * time.Second)
	}
}
