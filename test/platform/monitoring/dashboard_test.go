package monitoring

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// board is the part of a dashboard that is tested.
type board struct {
	UID, Title    string
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Type string }
	}
	Panels []boardPanel
}

type boardPanel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ H, W, X, Y int }
	Datasource               struct{ Type, UID string }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []struct{ RefID, Expr, LegendFormat string }
}

func dashboard(t *testing.T) board {
	t.Helper()
	var b board
	must(t, json.Unmarshal(mustRead(t, root+"/config/grafana/kyklos.json"), &b))
	return b
}

// allPanels are those that show something.
func (b board) allPanels() []boardPanel {
	return slices.DeleteFunc(slices.Clone(b.Panels), func(p boardPanel) bool { return p.Type == "row" })
}

// substitute puts in what Grafana does for its variables with everything chosen.
func substitute(expr string) string {
	return strings.NewReplacer("$namespace", ".*", "$tws_name", ".*", "$__rate_interval", "2m").Replace(expr)
}

// allQueries are those of the dashboard and the rules, by where they stand.
func allQueries(t *testing.T) map[string]string {
	t.Helper()
	queries := map[string]string{}
	for _, rule := range shippedRules(t) {
		queries["alert "+rule.Alert] = rule.Expr
	}
	for _, p := range dashboard(t).allPanels() {
		for _, target := range p.Targets {
			queries["panel "+p.Title+" "+target.RefID] = substitute(target.Expr)
		}
	}
	return queries
}

// Every query is PromQL, and no variable of Grafana's is left in it: $1 is label_replace's own.
func TestQueriesParse(t *testing.T) {
	for where, expr := range allQueries(t) {
		if mustParse(t, expr); strings.Contains(strings.ReplaceAll(expr, `"$1"`, ""), "$") {
			t.Errorf("%s: %s", where, expr)
		}
	}
}

// Whatever Kyklos's own metrics are called in queries stands in docs/metrics.md with these labels; the
// target's labels and a histogram's le come from elsewhere.
func TestQueriesNameWhatIsDocumented(t *testing.T) {
	rows := map[string]string{}
	for line := range strings.Lines(string(mustRead(t, root+"/docs/metrics.md"))) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			rows[strings.Trim(cells[1], " `")] = cells[3]
		}
	}
	given := []string{"__name__", "job", "pod", "instance", "le"}
	for where, expr := range allQueries(t) {
		parser.Inspect(mustParse(t, expr), func(node parser.Node, _ []parser.Node) error {
			selector, ok := node.(*parser.VectorSelector)
			if !ok || !strings.HasPrefix(selector.Name, "kyklos_") {
				return nil
			}
			name := selector.Name
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				name = strings.TrimSuffix(name, suffix)
			}
			named, documented := rows[name]
			if !documented {
				t.Errorf("%s: docs/metrics.md has no %s", where, name)
			}
			for _, matcher := range selector.LabelMatchers {
				if !slices.Contains(given, matcher.Name) && !strings.Contains(named, "`"+matcher.Name+"`") {
					t.Errorf("%s: %s has no label %s", where, name, matcher.Name)
				}
			}
			return nil
		})
	}
}

// Grafana draws what lies on its grid of 24 columns without overlap, each panel by its own number.
func TestPanelsLieOnTheGrid(t *testing.T) {
	b := dashboard(t)
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range b.Panels {
		if ids[p.ID] || p.ID == 0 {
			t.Errorf("%s: the id %d is taken or none", p.Title, p.ID)
		}
		ids[p.ID] = true
		if g := p.GridPos; g.X < 0 || g.X+g.W > 24 || g.W < 1 || g.H < 1 {
			t.Errorf("%s lies outside: %+v", p.Title, g)
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if taken[cell] != "" {
					t.Fatalf("%s lies on %s", p.Title, taken[cell])
				}
				taken[cell] = p.Title
			}
		}
	}
}

// Each panel says what it shows, and asks the data source that is chosen at the top.
func TestPanelsExplainThemselves(t *testing.T) {
	b := dashboard(t)
	for _, p := range b.allPanels() {
		if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
			t.Errorf("%q lacks a title, description, unit or query", p.Title)
		}
		if p.Datasource.Type != "prometheus" || p.Datasource.UID != "${datasource}" {
			t.Errorf("%s asks %+v", p.Title, p.Datasource)
		}
	}
	variables := []string{}
	for _, v := range b.Templating.List {
		variables = append(variables, v.Name)
		if !bytes.Contains(mustRead(t, root+"/config/grafana/kyklos.json"), []byte("$"+v.Name)) &&
			!bytes.Contains(mustRead(t, root+"/config/grafana/kyklos.json"), []byte("${"+v.Name+"}")) {
			t.Errorf("nothing uses the variable %s", v.Name)
		}
	}
	if want := []string{"datasource", "namespace", "tws_name"}; !slices.Equal(variables, want) || b.UID == "" || b.SchemaVersion == 0 {
		t.Errorf("variables %q, want %q; uid %q, schema version %d", variables, want, b.UID, b.SchemaVersion)
	}
}
