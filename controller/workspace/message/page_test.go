package message_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/internal/lifecycle"
)

// TestPage compares the table of reasons in the documentation with the comments in the API and the messages.
func TestPage(t *testing.T) {
	const path, heading = "../../../docs/workspace-status.md", "## Reasons\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, was, found := strings.Cut(string(page), heading)
	if !found {
		t.Fatalf("%s has no heading Reasons", path)
	}
	want := "\n| Reason | Meaning | Example of a message | Event |\n|---|---|---|---|\n" + strings.Join(rows(t), "")
	if golden.Updating() {
		if err := os.WriteFile(path, []byte(head+heading+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, was); diff != "" {
		t.Errorf("%s (-want +got)\n%s", path, diff)
	}
}

// rows returns the rows of the table in the order of the API's constants.
func rows(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../apis/v1alpha1/workspace_conditions.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		_, means, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(spec.Doc.Text()), "\n", " "), ": ")
		code := lifecycle.Code(strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", code, strings.ToUpper(means[:1])+means[1:], example(code), message.EventOf(code)))
		return true
	})
	return rows
}

// example is the message of a code in the first situation with it.
func example(code lifecycle.Code) string {
	s := situation{before: archived(status(lifecycle.Standby, lifecycle.None)), code: code}
	for _, known := range situations() {
		if known.code == code {
			s = known
			break
		}
	}
	return strings.NewReplacer(workspaceUID, "UID", volumeUID, "VOLUME-UID", operationID, "OPERATION", archiveOperation, "OPERATION", olderOperation, "OLDER", "|", `\|`).
		Replace(s.facts().Status(eight).Conditions[0].Message)
}
