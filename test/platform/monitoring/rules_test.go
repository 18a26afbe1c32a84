package monitoring

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"sigs.k8s.io/yaml"
)

// unitTest is a file in the format of promtool test rules, as far as it is used here.
type unitTest struct {
	RuleFiles          []string       `json:"rule_files"`
	EvaluationInterval model.Duration `json:"evaluation_interval"`
	Tests              []scenario     `json:"tests"`
}

// scenario is what Prometheus sees, and what fires when.
type scenario struct {
	Name        string         `json:"name"`
	Interval    model.Duration `json:"interval"`
	InputSeries []struct {
		Series string `json:"series"`
		Values string `json:"values"`
	} `json:"input_series"`
	AlertRuleTests []moment `json:"alert_rule_test"`
}

// moment is all that fires of one alert at one time.
type moment struct {
	EvalTime  model.Duration `json:"eval_time"`
	Alertname string         `json:"alertname"`
	ExpAlerts []firing       `json:"exp_alerts"`
}

// firing is an alert's labels without its name, and its annotations.
type firing struct {
	Labels      map[string]string `json:"exp_labels"`
	Annotations map[string]string `json:"exp_annotations"`
}

// The real rule engine, over the series of each scenario, fires what the scenario says and no more.
func TestRules(t *testing.T) {
	rules := ruleFile(t)
	for path, file := range unitTests(t) {
		for _, s := range file.Tests {
			t.Run(filepath.Base(path)+"/"+s.Name, func(t *testing.T) { s.run(t, rules) })
		}
	}
}

// Every alert has a scenario in which it fires, and one in which it stays silent.
func TestEveryAlertIsTestedBothWays(t *testing.T) {
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, file := range unitTests(t) {
		for _, s := range file.Tests {
			last := map[string]moment{}
			for _, m := range s.AlertRuleTests {
				last[m.Alertname] = m
				fires[m.Alertname] = fires[m.Alertname] || len(m.ExpAlerts) > 0
			}
			for name, m := range last {
				silent[name] = silent[name] || len(m.ExpAlerts) == 0
			}
		}
	}
	for _, rule := range shippedRules(t) {
		if !fires[rule.Alert] || !silent[rule.Alert] {
			t.Errorf("%s: fires in a scenario: %v, ends one silent: %v", rule.Alert, fires[rule.Alert], silent[rule.Alert])
		}
		delete(fires, rule.Alert)
	}
	for name := range fires {
		t.Errorf("there is no alert %s", name)
	}
}

func (s *scenario) run(t *testing.T, ruleFile string) {
	load := fmt.Sprintf("load %s\n", s.Interval)
	for _, series := range s.InputSeries {
		load += fmt.Sprintf("  %s %s\n", series.Series, series.Values)
	}
	loader, err := promqltest.NewLazyLoader(load, promqltest.LazyLoaderOpts{})
	must(t, err)
	defer loader.Close()
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc:  rules.EngineQueryFunc(loader.QueryEngine(), loader.Storage()),
		Appendable: loader.Storage(),
		Context:    t.Context(),
		Logger:     promslog.NewNopLogger(),
		Parser:     promQL,
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
	})
	groups, errs := manager.LoadGroups(time.Duration(s.Interval), labels.EmptyLabels(), "", nil, false, ruleFile)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	slices.SortStableFunc(s.AlertRuleTests, func(a, b moment) int { return int(a.EvalTime - b.EvalTime) })
	tests := s.AlertRuleTests
	for now := model.Duration(0); len(tests) > 0; now += s.Interval {
		at := time.Unix(0, 0).Add(time.Duration(now)).UTC()
		loader.WithSamplesTill(at, func(err error) {
			must(t, err)
			for _, group := range groups {
				group.Eval(t.Context(), at)
			}
		})
		for len(tests) > 0 && tests[0].EvalTime < now+s.Interval {
			tests[0].check(t, groups)
			tests = tests[1:]
		}
	}
}

func (m *moment) check(t *testing.T, groups map[string]*rules.Group) {
	t.Helper()
	got := []firing{}
	for _, group := range groups {
		for _, rule := range group.AlertingRules() {
			if err := rule.LastError(); err != nil {
				t.Errorf("%s at %s: %v", rule.Name(), m.EvalTime, err)
			}
			if rule.Name() != m.Alertname {
				continue
			}
			for _, alert := range rule.ActiveAlerts() {
				if alert.State == rules.StateFiring {
					got = append(got, firing{without(alert.Labels, labels.AlertName), alert.Annotations.Map()})
				}
			}
		}
	}
	sorted := func(alerts []firing) []firing {
		return slices.SortedFunc(slices.Values(alerts), func(a, b firing) int {
			return strings.Compare(labels.FromMap(a.Labels).String(), labels.FromMap(b.Labels).String())
		})
	}
	want := m.expected(got)
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("%s at %s: (-want +got)\n%s", m.Alertname, m.EvalTime, diff)
	}
}

// expected is ExpAlerts; one that names only some annotations takes the others as they come.
func (m *moment) expected(got []firing) []firing {
	var want []firing
	for _, alert := range m.ExpAlerts {
		for _, other := range got {
			if maps.Equal(alert.Labels, other.Labels) {
				whole := maps.Clone(other.Annotations)
				maps.Copy(whole, alert.Annotations)
				alert.Annotations = whole
			}
		}
		want = append(want, alert)
	}
	return want
}

func without(set labels.Labels, name string) map[string]string {
	all := set.Map()
	delete(all, name)
	return all
}

func unitTests(t *testing.T) map[string]unitTest {
	t.Helper()
	paths, err := filepath.Glob(root + "/config/prometheus/tests/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no rule tests: %v", err)
	}
	files := map[string]unitTest{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		must(t, err)
		var file unitTest
		if err := yaml.UnmarshalStrict(content, &file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for i := range file.Tests {
			if file.Tests[i].Interval == 0 {
				file.Tests[i].Interval = file.EvaluationInterval
			}
		}
		files[path] = file
	}
	return files
}
