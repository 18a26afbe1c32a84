package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every rule has a description, and docs/lint.md has a heading for each, in the same order.
func TestRulesAreDocumented(t *testing.T) {
	var described []string
	for _, rule := range Rules {
		described = append(described, string(rule.Rule))
		if rule.Text == "" || rule.Text[len(rule.Text)-1] != '.' {
			t.Errorf("%s: %q is not a sentence", rule.Rule, rule.Text)
		}
	}
	page, err := os.ReadFile("../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, match := range regexp.MustCompile("(?m)^### `(.*)`$").FindAllSubmatch(page, -1) {
		documented = append(documented, string(match[1]))
	}
	if diff := cmp.Diff(described, documented); diff != "" {
		t.Errorf("docs/lint.md (-described +documented):\n%s", diff)
	}
	if declared := declaredRules(t); !slices.Equal(declared, slices.Sorted(slices.Values(described))) {
		t.Errorf("rules of the source: %q", declared)
	}
}

// declaredRules are the constants of rule.go.
func declaredRules(t *testing.T) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "rule.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				name, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, name)
			}
		}
		return true
	})
	slices.Sort(names)
	return names
}
