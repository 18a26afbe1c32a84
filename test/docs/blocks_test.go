package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kyklos.io/kyklos/test/harness"
)

// block is a block of the documentation that is run.
type block struct {
	harness.Block
	needsCluster bool
}

// kyklosCommand matches the command kyklos, or kubectl's plugin, at the beginning of a command or behind a pipe.
var kyklosCommand = regexp.MustCompile(`(^|\| *)(kubectl )?kyklos( |$)`)

// readBlocks returns the blocks of the documentation below root that are run.
func readBlocks(root string) (all []block, err error) {
	for _, source := range []struct {
		pattern string
		read    func(root, page string) ([]block, error)
	}{{"docs/*.md", readPage}, {"README.md", readPage}, {"docs/cli/*.md", readExamples}} {
		pages, err := filepath.Glob(filepath.Join(root, source.pattern))
		if err != nil {
			return nil, err
		}
		for _, page := range pages {
			name, err := filepath.Rel(root, page)
			if err != nil {
				return nil, err
			}
			blocks, err := source.read(root, name)
			if err != nil {
				return nil, err
			}
			all = append(all, blocks...)
		}
	}
	return all, nil
}

// readPage returns the blocks of a page.
func readPage(root, page string) (blocks []block, err error) {
	all, err := harness.ReadConsole(root, page)
	for _, b := range all {
		runsKyklos := slices.ContainsFunc(b.Commands, func(c harness.Command) bool { return kyklosCommand.MatchString(c.Text) })
		if runsKyklos && !strings.Contains(b.Marker, "<!-- not run: ") {
			blocks = append(blocks, block{b, strings.Contains(b.Marker, "<!-- needs a cluster -->")})
		}
	}
	return blocks, err
}

// readExamples returns the examples on the page of a command, each as a block.
func readExamples(root, page string) (blocks []block, err error) {
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return nil, err
	}
	before, examples, found := strings.Cut(string(text), "\n### Examples\n\n```\n")
	if !found {
		return nil, nil
	}
	examples, _, _ = strings.Cut(examples, "\n```\n")
	line, comment := strings.Count(before, "\n")+5, ""
	for example := range strings.SplitSeq(examples, "\n") {
		example = strings.TrimSpace(example)
		switch {
		case strings.HasPrefix(example, "#"):
			comment = example
		case strings.Contains(comment, " a store"), strings.Contains(comment, "Workspace"): // test/e2e/workspace has them
		case kyklosCommand.MatchString(example):
			command := harness.Command{Text: example}
			if _, code, says := strings.Cut(comment, "exit "); says {
				_, _ = fmt.Sscan(code, &command.Exit)
			}
			blocks = append(blocks, block{
				harness.Block{Page: page, Line: line, Marker: comment, Commands: []harness.Command{command}}, strings.Contains(comment, "cluster"),
			})
		case example != "":
			return nil, fmt.Errorf("%s:%d: %q is neither a comment nor a command of kyklos", page, line, example)
		}
		line++
	}
	return blocks, nil
}
