package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Block is a block of console commands in the documentation.
type Block struct {
	// Page is the path of the page below the repository's root, and Line the line on which the block begins.
	Page string
	Line int
	// Marker is the line above the block.
	Marker   string
	Commands []Command
}

// Command is one command and what the page shows of it.
type Command struct {
	Text string
	// Shown are the lines that it prints. Nil means that the output is not compared.
	Shown []string
	// Exit is its exit code.
	Exit int
}

// Name is the place of the block.
func (b Block) Name() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// ReadConsole returns the blocks of ```console on a page, whose path is relative to root.
//
// A command begins with "$ ". A backslash at the end of its line or a here-document continues it on the next
// lines. The lines below a command are its output. "$ echo $?" after it shows its exit code.
func ReadConsole(root, page string) (blocks []Block, err error) {
	content, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(content), "\n")
	for i := 0; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "```console" {
			continue
		}
		indent := lines[i][:strings.Index(lines[i], "`")]
		end := i + 1
		for end < len(lines) && strings.TrimSpace(lines[end]) != "```" {
			end++
		}
		block := Block{Page: page, Line: i + 1, Marker: lineAbove(lines, i)}
		if block.Commands, err = parseCommands(lines[i+1:end], indent); err != nil {
			return nil, fmt.Errorf("%s: %w", block.Name(), err)
		}
		blocks = append(blocks, block)
		i = end
	}
	return blocks, nil
}

// lineAbove returns the nearest line above that is not blank.
func lineAbove(lines []string, i int) string {
	for i--; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

func parseCommands(lines []string, indent string) (all []Command, err error) {
	for i := 0; i < len(lines); i++ {
		line := strings.TrimPrefix(lines[i], indent)
		text, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case !isCommand && len(all) == 0:
			return nil, fmt.Errorf("a block begins with a command, not with %q", line)
		case !isCommand:
			last := &all[len(all)-1]
			last.Shown = append(last.Shown, line)
			continue
		case text == "echo $?":
			i++
			if i == len(lines) || len(all) == 0 {
				return nil, fmt.Errorf("echo $? needs a command above and a code below")
			}
			if all[len(all)-1].Exit, err = strconv.Atoi(strings.TrimPrefix(lines[i], indent)); err != nil {
				return nil, err
			}
			continue
		}
		for i+1 < len(lines) && isContinued(text) {
			i++
			text += "\n" + strings.TrimPrefix(lines[i], indent)
		}
		all = append(all, Command{Text: text, Shown: []string{}})
	}
	return all, nil
}

var hereDocument = regexp.MustCompile(`<<-?'?"?([A-Z]+)`)

// isContinued reports whether the next line belongs to the command.
func isContinued(command string) bool {
	if here := hereDocument.FindStringSubmatch(command); here != nil {
		return !strings.HasSuffix(command, "\n"+here[1])
	}
	return strings.HasSuffix(command, `\`)
}
