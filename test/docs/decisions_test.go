package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// adrHead is how a decision begins.
var adrHead = regexp.MustCompile(`^# ([1-9][0-9]*)\. (.+)\n\nStatus: (proposed|accepted|superseded by ADR [1-9][0-9]*)\nDate: ([0-9]{4}-[0-9]{2}-[0-9]{2})\n\n`)

// The index of the decisions says the same as the decisions.
func TestDecisionsHaveAStatusAndADate(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(root, "docs/adr/0*.md"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no decisions: %v", err)
	}
	var rows []string
	for _, path := range paths {
		name := filepath.Base(path)
		head := adrHead.FindStringSubmatch(readText(t, "docs/adr/"+name))
		if head == nil {
			t.Errorf("docs/adr/%s: does not begin with its number, title, status and date", name)
			continue
		}
		rows = append(rows, "| "+head[1]+" | ["+head[2]+"]("+name+") | "+head[3]+" | "+head[4]+" |")
	}
	var index []string
	for line := range strings.Lines(readText(t, "docs/adr/README.md")) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| Number ") {
			index = append(index, strings.TrimSpace(line))
		}
	}
	sameNames(t, index, rows)
}
