package desk

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Block is some commands that belong together.
type Block struct {
	// Page is the page below the project's folder, and Line where the block begins.
	Page string
	Line int
	// Cluster says that it needs a cluster.
	Cluster bool
	Steps   []Step
}

// Step is one command and what is known of its end.
type Step struct {
	Command string
	// Shown are the lines that it prints, nil if nothing is said of them.
	Shown []string
	Exit  int
}

// Name is the block's place, for people.
func (b Block) Name() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// ofKyklos finds the command kyklos, or kubectl's plugin, at the beginning of a command or behind a pipe.
var ofKyklos = regexp.MustCompile(`(^|\| *)(kubectl )?kyklos( |$)`)

// All are the blocks of the documentation below root that are run.
func All(root string) (all []Block, err error) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		blocks, err := ofPage(root, page)
		if err != nil {
			return nil, err
		}
		all = append(all, blocks...)
	}
	references, err := filepath.Glob(filepath.Join(root, "docs", "cli", "*.md"))
	if err != nil {
		return nil, err
	}
	for _, page := range references {
		blocks, err := ofReference(root, page)
		if err != nil {
			return nil, err
		}
		all = append(all, blocks...)
	}
	return all, nil
}

// ofPage are the blocks of a page.
func ofPage(root, page string) (blocks []Block, err error) {
	text, name, err := read(root, page)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "```console" {
			continue
		}
		indent := lines[i][:strings.Index(lines[i], "`")]
		end := i + 1
		for end < len(lines) && strings.TrimSpace(lines[end]) != "```" {
			end++
		}
		marker := above(lines, i)
		block := Block{Page: name, Line: i + 1, Cluster: strings.Contains(marker, "<!-- needs a cluster -->")}
		if block.Steps, err = steps(lines[i+1:end], indent); err != nil {
			return nil, fmt.Errorf("%s: %w", block.Name(), err)
		}
		isOurs := slices.ContainsFunc(block.Steps, func(s Step) bool { return ofKyklos.MatchString(s.Command) })
		if isOurs && !strings.Contains(marker, "<!-- not run: ") {
			blocks = append(blocks, block)
		}
		i = end
	}
	return blocks, nil
}

// above is the nearest line above that is not blank.
func above(lines []string, i int) string {
	for i--; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

// steps takes the commands of a block apart.
func steps(lines []string, indent string) (all []Step, err error) {
	for i := 0; i < len(lines); i++ {
		line := strings.TrimPrefix(lines[i], indent)
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case !isCommand && len(all) == 0:
			return nil, fmt.Errorf("a block begins with a command, not with %q", line)
		case !isCommand:
			last := &all[len(all)-1]
			last.Shown = append(last.Shown, line)
			continue
		case command == "echo $?":
			i++
			if i == len(lines) || len(all) == 0 {
				return nil, fmt.Errorf("no command or no code with echo $?")
			}
			if all[len(all)-1].Exit, err = strconv.Atoi(strings.TrimPrefix(lines[i], indent)); err != nil {
				return nil, err
			}
			continue
		}
		for i+1 < len(lines) && goesOn(command) {
			i++
			command += "\n" + strings.TrimPrefix(lines[i], indent)
		}
		all = append(all, Step{Command: command, Shown: []string{}})
	}
	return all, nil
}

var hereDocument = regexp.MustCompile(`<<-?'?"?([A-Z]+)`)

// goesOn reports whether the next line belongs to the command.
func goesOn(command string) bool {
	if here := hereDocument.FindStringSubmatch(command); here != nil {
		return !strings.HasSuffix(command, "\n"+here[1])
	}
	return strings.HasSuffix(command, `\`)
}

// ofReference are the examples on the page of a command, each a block.
func ofReference(root, page string) (blocks []Block, err error) {
	text, name, err := read(root, page)
	if err != nil {
		return nil, err
	}
	before, examples, found := strings.Cut(text, "\n### Examples\n\n```\n")
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
		case ofKyklos.MatchString(example):
			step := Step{Command: example}
			if _, code, says := strings.Cut(comment, "exit "); says {
				_, _ = fmt.Sscan(code, &step.Exit)
			}
			blocks = append(blocks, Block{Page: name, Line: line, Cluster: strings.Contains(comment, "cluster"), Steps: []Step{step}})
		case example != "":
			return nil, fmt.Errorf("%s:%d: %q is neither a comment nor a command of kyklos", name, line, example)
		}
		line++
	}
	return blocks, nil
}

func read(root, page string) (text, name string, err error) {
	content, err := os.ReadFile(page)
	if err != nil {
		return "", "", err
	}
	name, err = filepath.Rel(root, page)
	return string(content), name, err
}
