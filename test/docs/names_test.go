package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

// Each list in the documentation has exactly the names of the code.

func TestEventReasons(t *testing.T) {
	sameNames(t, firstColumn(t, "events.md", ""), stringConstants(t, "internal/events", "Reason"))
}

func TestConditions(t *testing.T) {
	contract := stringConstants(t, "apis/v1beta1", "Reason")
	var documented []string
	for _, condition := range stringConstants(t, "apis/v1beta1", "Condition") {
		reasons := firstColumn(t, "status-and-conditions.md", "### "+condition)
		if len(reasons) == 0 {
			t.Errorf("the condition %s is not documented", condition)
		}
		documented = append(documented, reasons...)
	}
	slices.Sort(documented)
	sameNames(t, slices.Compact(documented), contract)
}

func TestStatusFields(t *testing.T) {
	var fields []string
	status := reflect.TypeFor[v1beta1.TimeWindowScalerStatus]()
	for i := range status.NumField() {
		name, _, _ := strings.Cut(status.Field(i).Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	sameNames(t, firstColumn(t, "status-and-conditions.md", "## Fields"), fields)
}

func TestMetrics(t *testing.T) {
	names := map[string]bool{}
	whole := regexp.MustCompile(`^"kyklos_[a-z_]+"$`)
	walkSource(t, "internal/metrics", func(node ast.Node) {
		if literal, ok := node.(*ast.BasicLit); ok && whole.MatchString(literal.Value) {
			names[stringValue(t, literal)] = true
		}
	})
	code := slices.Sorted(maps.Keys(names))
	sameNames(t, firstColumn(t, "metrics.md", ""), code)

	mention := regexp.MustCompile(`\bkyklos_[a-z_]+`)
	for path, text := range documents(t) {
		for _, name := range mention.FindAllString(commandPage.ReplaceAllString(text, ""), -1) {
			if !names[name] {
				t.Errorf("%s: there is no metric %s", path, name)
			}
		}
	}
}

// flagLine is a line of --help: name, type (none for booleans), what it does, default.
var flagLine = regexp.MustCompile(`^ +(?:-\w, )?(--[a-z-]+)(?: [a-zA-Z0-9]+)? {2,}.*?(?: \(default "?([^")]*)"?\))?$`)

// foreignFlags are flags of helm, kubectl, kube-apiserver and oauth2-proxy.
var foreignFlags = []string{
	"--admission-control-config-file", "--allowed-group", "--email-domain", "--force-conflicts", "--reset-then-reuse-values", "--set", "--take-ownership", "--upstream",
}

// commandPage is a page of the generated reference, which has the name of a command.
var commandPage = regexp.MustCompile(`\bkyklos_[a-z_]+\.md`)

func TestManagerFlags(t *testing.T) {
	sameFlags(t, "manager", "manager-flags.md", "")
	sameFlags(t, "heartbeat", "workspace-activity.md", "## Who sends heartbeats")
	flags := referenceFlags(t)
	mention := regexp.MustCompile("`(--[a-z-]+)")
	for path, text := range documents(t) {
		for _, match := range mention.FindAllStringSubmatch(text, -1) {
			if !flags[match[1]] && !slices.Contains(foreignFlags, match[1]) {
				t.Errorf("%s: no command has a flag %s", path, match[1])
			}
		}
	}
}

// referenceFlags returns the flags of all commands in the generated reference.
func referenceFlags(t *testing.T) map[string]bool {
	t.Helper()
	listed := regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`)
	flags := map[string]bool{}
	for path, text := range documents(t) {
		if filepath.Base(filepath.Dir(path)) != "cli" {
			continue
		}
		for _, match := range listed.FindAllStringSubmatch(text, -1) {
			flags[match[1]] = true
		}
	}
	if len(flags) == 0 {
		t.Fatal("the reference lists no flags")
	}
	return flags
}

// sameFlags compares a command's flags and their defaults with a table.
func sameFlags(t *testing.T, command, page, heading string) {
	t.Helper()
	code := map[string]string{}
	for line := range strings.Lines(help(t, command)) {
		if match := flagLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); match != nil && match[1] != "--help" {
			code[match[1]] = match[2]
		}
	}
	documented := map[string]string{}
	for _, row := range tableRows(t, page, heading) {
		documented[strings.Trim(row[0], "`")] = strings.Trim(row[1], "`")
	}
	if diff := cmp.Diff(code, documented); diff != "" {
		t.Errorf("flags of %s and their defaults (-code +documented):\n%s", command, diff)
	}
}

func help(t *testing.T, command string) string {
	t.Helper()
	binary, err := harness.Binary("kyklos")
	harness.Must(t, err)
	text, err := exec.Command(binary, command, "--help").Output()
	harness.Must(t, err)
	return string(text)
}

func sameNames(t *testing.T, documented, code []string) {
	t.Helper()
	slices.Sort(documented)
	slices.Sort(code)
	if diff := cmp.Diff(code, documented); diff != "" || len(code) == 0 {
		t.Errorf("-code +documented:\n%s", diff)
	}
}

// stringConstants returns the values of a package's exported string constants whose names begin with
// prefix.
func stringConstants(t *testing.T, dir, prefix string) []string {
	t.Helper()
	var values []string
	walkSource(t, dir, func(node ast.Node) {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return
		}
		for i, name := range spec.Names {
			if strings.HasPrefix(name.Name, prefix) && i < len(spec.Values) {
				values = append(values, stringValue(t, spec.Values[i]))
			}
		}
	})
	return values
}

// walkSource visits the syntax of a package without its tests.
func walkSource(t *testing.T, dir string, visit func(ast.Node)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	harness.Must(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		harness.Must(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			visit(node)
			return true
		})
	}
}

func stringValue(t *testing.T, expression ast.Expr) string {
	t.Helper()
	literal, ok := expression.(*ast.BasicLit)
	if !ok {
		t.Fatalf("%T is not a literal: write the name literally, so that it can be found", expression)
	}
	value, err := strconv.Unquote(literal.Value)
	harness.Must(t, err)
	return value
}

// documents returns the pages of the project's folder and all below docs, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		found[page] = readText(t, page)
	}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			relative, _ := filepath.Rel(root, path)
			found[relative] = readText(t, relative)
		}
		return err
	})
	harness.Must(t, err)
	return found
}
