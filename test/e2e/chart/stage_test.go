package chart

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"kyklos.io/kyklos/test/harness"
)

// stage is a cluster on which the commands of docs/install.md are run.
type stage struct {
	*testing.T
	cluster *harness.Cluster
	root    string
	port    int
	// environment is that of every command: this cluster, and Helm's files apart from the user's.
	environment []string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	cluster := harness.StartFor(t)
	port, err := harness.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, cluster: cluster, root: harness.RootFor(t), port: port}
	if _, err := harness.Binary("helm"); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	s.environment = append(os.Environ(), "KUBECONFIG="+cluster.Kubeconfig,
		"PATH="+filepath.Join(s.root, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	return s
}

// try runs a command as a user does who stands in the project's folder.
func (s *stage) try(command string) (output string, err error) {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), "sh", "-c", command)
	cmd.Dir, cmd.Env = s.root, s.environment
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(out.String()))
	}
	return out.String(), err
}

func (s *stage) run(command string) (output string) {
	s.Helper()
	output, err := s.try(command)
	if err != nil {
		s.Fatal(err)
	}
	return output
}

// fails runs a command that must fail for a reason.
func (s *stage) fails(command, reason string) {
	s.Helper()
	if _, err := s.try(command); err == nil || !strings.Contains(err.Error(), reason) {
		s.Errorf("%s: got %v, want %q", command, err, reason)
	}
}

// shown is a command of the page, and the lines that the page shows of its output.
type shown struct {
	command string
	output  []string
}

// page returns the commands with a prompt in docs/install.md.
func page(t *testing.T) []shown {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(harness.RootFor(t), "docs", "install.md"))
	if err != nil {
		t.Fatal(err)
	}
	var commands []shown
	for _, block := range regexp.MustCompile("(?ms)^ *```console\n(.*?)^ *```$").FindAllStringSubmatch(string(content), -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				commands = append(commands, shown{command: command})
				continue
			}
			last := &commands[len(commands)-1]
			last.output = append(last.output, line)
		}
	}
	return commands
}

// follow runs the page's command that contains all of words, the shortest if there are several, with
// further arguments, and holds its output against what the page shows.
func (s *stage) follow(words string, more ...string) {
	s.Helper()
	c := s.find(words)
	output := s.run(strings.Join(append([]string{c.command}, more...), " "))
	for _, line := range c.output {
		if !strings.Contains(output, line+"\n") {
			s.Errorf("%s prints\n%s\nthe page shows %q", c.command, output, line)
		}
	}
}

// repeat is follow of a command that may have to be repeated.
func (s *stage) repeat(words string) {
	s.Helper()
	command, failed := s.find(words).command, error(nil)
	err := wait.PollUntilContextTimeout(s.Context(), time.Second, patience, true, func(context.Context) (bool, error) {
		_, failed = s.try(command)
		return failed == nil, nil
	})
	if err != nil {
		s.Fatal(failed)
	}
}

// find returns the page's command that contains all of words, and notes that it is run.
func (s *stage) find(words string) shown {
	s.Helper()
	var found []shown
	for _, c := range page(s.T) {
		if containsAll(c.command, strings.Fields(words)) {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		s.Fatalf("docs/install.md has no command with %q", words)
	}
	slices.SortFunc(found, func(a, b shown) int { return len(a.command) - len(b.command) })
	followed[found[0].command] = true
	return found[0]
}

// followed are the commands that the tests of this run have run. The tests run one after the other.
var followed = map[string]bool{}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
