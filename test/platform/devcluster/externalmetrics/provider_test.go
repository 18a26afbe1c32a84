package externalmetrics

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	metrics "k8s.io/metrics/pkg/apis/external_metrics"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, time.March, 3, 12, 0, 0, 0, time.UTC)

func TestValues(t *testing.T) {
	item := func(labels map[string]string, value string) metrics.ExternalMetricValue {
		return metrics.ExternalMetricValue{
			MetricName: "queue", MetricLabels: labels, Timestamp: metav1.NewTime(noon), Value: resource.MustParse(value),
		}
	}
	both := "[{labels: {queue: orders}, value: \"350\"}, {labels: {queue: mail}, value: 0.5}]"
	for name, c := range map[string]struct {
		text, selector string
		want           []metrics.ExternalMetricValue
	}{
		"nothing written":          {"", "", []metrics.ExternalMetricValue{}},
		"an empty list":            {"[]", "", []metrics.ExternalMetricValue{}},
		"no selector":              {both, "", []metrics.ExternalMetricValue{item(map[string]string{"queue": "orders"}, "350"), item(map[string]string{"queue": "mail"}, "500m")}},
		"a selector":               {both, "queue=mail", []metrics.ExternalMetricValue{item(map[string]string{"queue": "mail"}, "500m")}},
		"a set":                    {both, "queue in (orders,none)", []metrics.ExternalMetricValue{item(map[string]string{"queue": "orders"}, "350")}},
		"a selector without match": {both, "queue=none", []metrics.ExternalMetricValue{}},
		"without labels":           {`[{"value":"-2k"}]`, "!queue", []metrics.ExternalMetricValue{item(nil, "-2k")}},
	} {
		t.Run(name, func(t *testing.T) {
			selector, err := labels.Parse(c.selector)
			if err != nil {
				t.Fatal(err)
			}
			got, err := values("queue", c.text, selector, noon)
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestValuesThatFail(t *testing.T) {
	for text, want := range map[string]string{
		"error: the queue is on fire": "the queue is on fire",
		"error:":                      "",
		"350":                         "ConfigMap external-metrics, key queue: write a list of",
		"[{valeu: 1}]":                `unknown field "valeu"`,
		"[{value: many}]":             "write a list of",
		"[{labels: {a: b}}]":          "entry 0 has no value; write a quantity",
	} {
		got, err := values("queue", text, labels.Everything(), noon)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want an error with %q", text, got, err, want)
		}
	}
}

// Whatever list a test writes comes back whole, in order, and its quantities to the last digit.
func TestValuesKeepsEveryNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quantities := rapid.SliceOf(rapid.StringMatching(`-?[0-9]{1,15}(\.[0-9]{1,3}|m|k|Mi)?`)).Draw(t, "quantities")
		written, want := []map[string]string{}, []resource.Quantity{}
		for _, q := range quantities {
			written = append(written, map[string]string{"value": q})
			want = append(want, resource.MustParse(q))
		}
		text, err := json.Marshal(written)
		if err != nil {
			t.Fatal(err)
		}
		got, err := values("queue", string(text), labels.Everything(), noon)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d values of %s: %v", len(got), text, err)
		}
		for i := range got {
			if got[i].Value.Cmp(want[i]) != 0 {
				t.Errorf("entry %d: %s, want %s", i, got[i].Value.String(), want[i].String())
			}
		}
	})
}
