package monitoring

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"
)

// scrapesVariable names a folder with the scrapes of an earlier run, for work on the queries.
const scrapesVariable = "KYKLOS_SCRAPES"

// prometheus has scraped a run.
type prometheus struct {
	db     *teststorage.TestStorage
	engine *promql.Engine
	// from and to are the first and the last scrape.
	from, to time.Time
}

// scrape runs the program scrapes and stores its files with the labels of the ServiceMonitor's targets.
func scrape(t *testing.T) *prometheus {
	t.Helper()
	folder := os.Getenv(scrapesVariable)
	if folder == "" {
		folder = t.TempDir()
		runScrapes(t, folder)
	}
	w := &prometheus{db: teststorage.New(t), engine: promqltest.NewTestEngine(t, false, 5*time.Minute, 1e6)}
	paths, err := filepath.Glob(folder + "/*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("found no scrapes: %v", err)
	}
	for _, path := range paths { // in the order of time, with which the names begin
		name := filepath.Base(path)
		at, err := time.Parse(time.DateTime, name[:len(time.DateTime)])
		must(t, err)
		if w.from.IsZero() {
			w.from = at
		}
		w.to = at
		w.store(t, path, at, strings.TrimSpace(name[len(time.DateTime):]))
	}
	return w
}

// runScrapes runs the program, built as part of the main module.
func runScrapes(t *testing.T, folder string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "go", "run", "./test/platform/scrapes", folder)
	command.Dir = root
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}

// store appends one scrape as Prometheus does with honorLabels, and the metric up.
func (w *prometheus) store(t *testing.T, path string, at time.Time, job string) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	target := labels.FromStrings("job", job, "namespace", "kyklos-system", "pod", job+"-0", "instance", "10.0.0.1:8443")
	appender := w.db.Appender(t.Context())
	add := func(set labels.Labels, value float64) {
		builder := labels.NewBuilder(set)
		target.Range(func(l labels.Label) {
			if !set.Has(l.Name) {
				builder.Set(l.Name, l.Value)
			}
		})
		if _, err := appender.Append(storage.SeriesRef(0), builder.Labels(), at.UnixMilli(), value); err != nil {
			t.Fatal(err)
		}
	}
	add(labels.FromStrings(labels.MetricName, "up"), 1)
	if err := eachSample(content, add); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	must(t, appender.Commit())
}

// eachSample calls add with every sample of a scrape in the text format.
func eachSample(content []byte, add func(labels.Labels, float64)) error {
	samples := textparse.NewPromParser(content, labels.NewSymbolTable(), false)
	for {
		entry, err := samples.Next()
		if err != nil {
			if err.Error() == "EOF" {
				return nil
			}
			return err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var set labels.Labels
		samples.Labels(&set)
		_, _, value := samples.Series()
		add(set, value)
	}
}

// ask evaluates a query at each scrape and returns the series that have a point which is a number.
func (w *prometheus) ask(t *testing.T, query string) []labels.Labels {
	t.Helper()
	asked, err := w.engine.NewRangeQuery(t.Context(), w.db, nil, query, w.from, w.to, 30*time.Second)
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	defer asked.Close()
	matrix, err := asked.Exec(t.Context()).Matrix()
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	var found []labels.Labels
	for _, series := range matrix {
		if slices.ContainsFunc(series.Floats, func(p promql.FPoint) bool { return !math.IsNaN(p.F) }) {
			found = append(found, series.Metric)
		}
	}
	return found
}

// A real manager and API server have every series that dashboard and alerts query, under these names and labels,
// after a run through all states.
func TestQueriesOnScrapes(t *testing.T) {
	w := scrape(t)
	for where, expr := range allQueries(t) {
		var read []labels.Labels
		for _, selector := range selectors(t, expr) {
			matched := w.ask(t, selector)
			if len(matched) == 0 {
				t.Errorf("%s: nothing matches %s", where, selector)
			}
			read = append(read, matched...)
		}
		for _, name := range grouped(t, expr) {
			if !slices.ContainsFunc(read, func(set labels.Labels) bool { return set.Has(name) }) {
				t.Errorf("%s: no series that it reads has the label %s", where, name)
			}
		}
	}
	for _, p := range dashboard(t).allPanels() {
		for _, target := range p.Targets {
			if len(w.ask(t, substitute(target.Expr))) == 0 {
				t.Errorf("the panel %q shows nothing for\n%s", p.Title, target.Expr)
			}
		}
	}
}

// selectors returns the series that a query reads, each as a query of its own.
func selectors(t *testing.T, expr string) []string {
	t.Helper()
	var found []string
	parser.Inspect(mustParse(t, expr), func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			plain := &parser.VectorSelector{Name: selector.Name, LabelMatchers: selector.LabelMatchers}
			found = append(found, plain.String())
		}
		return nil
	})
	return found
}

// grouped returns the labels by which a query groups and matches.
func grouped(t *testing.T, expr string) []string {
	t.Helper()
	var names []string
	parser.Inspect(mustParse(t, expr), func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.AggregateExpr:
			names = append(names, n.Grouping...)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				names = append(names, n.VectorMatching.MatchingLabels...)
			}
		}
		return nil
	})
	return names
}

func mustParse(t *testing.T, expr string) parser.Expr {
	t.Helper()
	parsed, err := promQL.ParseExpr(expr)
	if err != nil {
		t.Fatalf("%v in\n%s", err, expr)
	}
	return parsed
}
