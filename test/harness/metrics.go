package harness

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Sample is one line of a program's metrics.
type Sample struct {
	// Name is the metric's name, and Labels what is between the braces.
	Name, Labels string
	Value        float64
}

// ParseSamples reads metrics in the text format.
func ParseSamples(text []byte) (samples []Sample) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		series, value, _ := strings.Cut(lines.Text(), " ")
		if brace := strings.LastIndex(lines.Text(), "} "); brace >= 0 { // a label's value may have spaces
			series, value = lines.Text()[:brace+1], lines.Text()[brace+2:]
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue // a comment
		}
		name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		samples = append(samples, Sample{name, labels, number})
	}
	return samples
}

// Samples reads the metrics of the manager.
func (t *T) Samples(m *Manager) []Sample {
	t.Helper()
	status, text := t.GetURL(m.MetricsURL)
	if status != http.StatusOK {
		t.Fatalf("%s: got %d, want 200: %s", m.MetricsURL, status, text)
	}
	return ParseSamples([]byte(text))
}

// Sum adds up the series of one of the manager's metrics. The name may end with labels in braces.
func (t *T) Sum(m *Manager, name string) (total float64) {
	t.Helper()
	name, labels, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
	for _, sample := range t.Samples(m) {
		if sample.Name == name && (labels == "" || sample.Labels == labels) {
			total += sample.Value
		}
	}
	return total
}

// GetURL sends a GET request and returns the answer.
func (t *T) GetURL(url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	t.Must(err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	t.Must(err)
	return response.StatusCode, string(content)
}
