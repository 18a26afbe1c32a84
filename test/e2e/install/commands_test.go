package install

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"kyklos.io/kyklos/test/harness"
)

// try runs a command as a user in the repository's root.
func (s *scenario) try(command string) (output string, err error) {
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

func (s *scenario) run(command string) (output string) {
	s.Helper()
	output, err := s.try(command)
	s.Must(err)
	return output
}

// fails runs a command that must fail for a reason.
func (s *scenario) fails(command, reason string) {
	s.Helper()
	if _, err := s.try(command); err == nil || !strings.Contains(err.Error(), reason) {
		s.Errorf("%s: got %v, want %q", command, err, reason)
	}
}

// await waits until a command prints want and nothing else.
func (s *scenario) await(command, want string) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%q", want), func() error {
		got, err := s.try(command)
		if err == nil && strings.TrimSpace(got) != want {
			err = fmt.Errorf("%s prints %q", command, got)
		}
		return err
	})
}

// installPage returns the commands of docs/install.md.
func (s *scenario) installPage() (commands []harness.Command) {
	s.Helper()
	blocks, err := harness.ReadConsole(s.root, "docs/install.md")
	s.Must(err)
	for _, block := range blocks {
		commands = append(commands, block.Commands...)
	}
	return commands
}

// runShown runs a command of docs/install.md with further arguments, and checks that it prints the lines that the page
// shows. See findShown.
func (s *scenario) runShown(fragments string, more ...string) {
	s.Helper()
	c := s.findShown(fragments)
	output := s.run(strings.Join(append([]string{c.Text}, more...), " "))
	for _, line := range c.Shown {
		if !strings.Contains(output, strings.TrimSpace(line)+"\n") {
			s.Errorf("%s: got\n%s\nthe page shows %q", c.Text, output, line)
		}
	}
}

// retryShown runs a command of docs/install.md until it succeeds.
func (s *scenario) retryShown(fragments string) {
	s.Helper()
	command := s.findShown(fragments).Text
	s.Eventually("success", func() error {
		_, err := s.try(command)
		return err
	})
}

// findShown returns the shortest command of docs/install.md that contains all of fragments, and marks it as executed.
func (s *scenario) findShown(fragments string) harness.Command {
	s.Helper()
	found := slices.DeleteFunc(s.installPage(), func(c harness.Command) bool {
		return slices.ContainsFunc(strings.Fields(fragments), func(fragment string) bool { return !strings.Contains(c.Text, fragment) })
	})
	if len(found) == 0 {
		s.Fatalf("docs/install.md has no command with %q", fragments)
	}
	shortest := slices.MinFunc(found, func(a, b harness.Command) int { return len(a.Text) - len(b.Text) })
	executed[shortest.Text] = true
	return shortest
}

// executed are the commands of docs/install.md that TestInstallPage has run.
var executed = map[string]bool{}
