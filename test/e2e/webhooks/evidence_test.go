package serving

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"

	"k8s.io/client-go/kubernetes"
)

// evidence is what the API server has counted of its calls to webhooks.
type evidence struct {
	// judged and converted are calls of Kyklos's webhooks; unanswered are calls of any that got no answer.
	judged, converted, unanswered float64
}

func (i *installation) evidence() (e evidence) {
	i.Helper()
	clients, err := kubernetes.NewForConfig(i.cluster.Config)
	i.must(err)
	text, err := clients.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(i.Context())
	i.must(err)
	for scanner := bufio.NewScanner(bytes.NewReader(text)); scanner.Scan(); {
		series, value, _ := strings.Cut(scanner.Text(), " ")
		name, labels, _ := strings.Cut(series, "{")
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue // a comment
		}
		switch name {
		case "apiserver_admission_webhook_request_total":
			if strings.Contains(labels, `timewindowscaler.kyklos.io"`) {
				e.judged += number
			}
		case "apiserver_admission_webhook_fail_open_count":
			e.unanswered += number
		case "apiserver_admission_webhook_rejection_count":
			if !strings.Contains(labels, `error_type="no_error"`) {
				e.unanswered += number
			}
		case "apiserver_conversion_webhook_request_total":
			if strings.Contains(labels, `result="success"`) {
				e.converted += number
			} else {
				e.unanswered += number
			}
		}
	}
	return e
}

// since returns what was counted after another count.
func (e evidence) since(before evidence) evidence {
	return evidence{judged: e.judged - before.judged, converted: e.converted - before.converted, unanswered: e.unanswered - before.unanswered}
}
