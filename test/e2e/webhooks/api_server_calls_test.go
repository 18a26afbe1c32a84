package webhooks

import (
	"strings"

	"k8s.io/client-go/kubernetes"

	"kyklos.io/kyklos/test/harness"
)

// calls counts the API server's calls to webhooks.
type calls struct {
	// admitted and converted are answered calls of Kyklos's webhooks, and unanswered are failed calls of any webhook.
	admitted, converted, unanswered float64
}

func (s *scenario) calls() (e calls) {
	s.Helper()
	clients, err := kubernetes.NewForConfig(s.Cluster.Config)
	s.Must(err)
	text, err := clients.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(s.Context())
	s.Must(err)
	for _, sample := range harness.ParseSamples(text) {
		switch sample.Name {
		case "apiserver_admission_webhook_request_total":
			if strings.Contains(sample.Labels, `timewindowscaler.kyklos.io"`) {
				e.admitted += sample.Value
			}
		case "apiserver_admission_webhook_fail_open_count":
			e.unanswered += sample.Value
		case "apiserver_admission_webhook_rejection_count":
			if !strings.Contains(sample.Labels, `error_type="no_error"`) {
				e.unanswered += sample.Value
			}
		case "apiserver_conversion_webhook_request_total":
			if strings.Contains(sample.Labels, `result="success"`) {
				e.converted += sample.Value
			} else {
				e.unanswered += sample.Value
			}
		}
	}
	return e
}

// since returns the calls after another count.
func (e calls) since(before calls) calls {
	return calls{admitted: e.admitted - before.admitted, converted: e.converted - before.converted, unanswered: e.unanswered - before.unanswered}
}
