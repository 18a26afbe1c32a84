package metrics_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apimachinery/pkg/types"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/internal/metrics"
)

// A scrape of a thousand scalers that have scaled up and down, and are at rest, is 0.5 MB: per-object series exist
// where an alert or the dashboard needs them.
func TestTheSizeOfAScrape(t *testing.T) {
	const scalers, most = 1000, 550
	before := scrape(t)
	for i := range scalers {
		name := fmt.Sprintf("webapp-office-hours-%d", i)
		metrics.RecordScaleEvent(name, "production", 2, 10)
		metrics.RecordScaleEvent(name, "production", 10, 2)
		metrics.RecordReconcileDuration(0.01)
		metrics.RecordState(name, "production", metrics.State{Window: "BusinessHours", EffectiveReplicas: 10, Due: time.Unix(1_800_000_000, 0)})
		t.Cleanup(func() { metrics.Forget(types.NamespacedName{Namespace: "production", Name: name}) })
	}
	after := scrape(t)
	t.Logf("%d bytes with %d scalers", len(after), scalers)
	// effective_replicas, degraded, next_due_timestamp_seconds, and scale_events_total in two directions
	if more := said(t, after) - said(t, before); more != 5*scalers {
		t.Errorf("the scrape says that it has %d series more, want %d", more, 5*scalers)
	}
	if each := (len(after) - len(before)) / scalers; each > most {
		t.Errorf("%d bytes for each scaler, want at most %d; those of one:", each, most)
		for line := range strings.Lines(after) {
			if strings.Contains(line, `"webapp-office-hours-500"`) {
				t.Log(line)
			}
		}
	}
}

// said is how many series of scalers a scrape says that it has.
func said(t *testing.T, scrape string) int {
	t.Helper()
	for line := range strings.Lines(scrape) {
		if number, found := strings.CutPrefix(line, `kyklos_scrape_series{kind="TimeWindowScaler"} `); found {
			series, err := strconv.Atoi(strings.TrimSpace(number))
			if err != nil {
				t.Fatal(err)
			}
			return series
		}
	}
	t.Fatal("a scrape does not say how many series it has")
	return 0
}

// scrape is what Prometheus would get.
func scrape(t testing.TB) string {
	t.Helper()
	answer := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Accept-Encoding", "gzip")
	promhttp.HandlerFor(ctrlmetrics.Registry, promhttp.HandlerOpts{}).ServeHTTP(answer, request)
	reader, err := gzip.NewReader(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Passes, deletions and scrapes go on at the same time, and each scrape is consistent: with a window's two
// gauges there is one window.
func TestScrapesWhilePassesGoOn(t *testing.T) {
	var passes sync.WaitGroup
	key := types.NamespacedName{Namespace: "busy", Name: "web"}
	passes.Go(func() {
		for i := range 2000 {
			window := []string{"day", "night"}[i%2]
			metrics.RecordState(key.Name, key.Namespace, metrics.State{Window: window, EffectiveReplicas: int32(i), InGracePeriod: true})
			if i%100 == 99 {
				metrics.Forget(key)
			}
		}
	})
	for range 50 {
		found := series(t, `namespace="busy"`, "window=")
		day := func(line string) bool { return strings.Contains(line, `window="day"`) }
		if len(found) != 0 && (len(found) != 2 || day(found[0]) != day(found[1])) {
			t.Fatalf("one scrape shows %q", found)
		}
	}
	passes.Wait()
}

// BenchmarkScrape is a scrape of ten thousand scalers that have scaled up and down.
func BenchmarkScrape(b *testing.B) {
	for i := range 10_000 {
		name := fmt.Sprintf("webapp-office-hours-%d", i)
		metrics.RecordScaleEvent(name, "bench", 2, 10)
		metrics.RecordScaleEvent(name, "bench", 10, 2)
		metrics.RecordState(name, "bench", metrics.State{Window: "BusinessHours", EffectiveReplicas: 10, Due: time.Unix(1_800_000_000, 0)})
		b.Cleanup(func() { metrics.Forget(types.NamespacedName{Namespace: "bench", Name: name}) })
	}
	for b.Loop() {
		b.ReportMetric(float64(len(scrape(b))), "bytes")
	}
}
