package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"kyklos.io/kyklos/test/harness"
)

// sandbox is a copy of the project's files in which blocks run one after another, each with a fresh copy.
type sandbox struct {
	lock sync.Mutex
	dir  string
	env  []string
}

// newSandbox copies the files into dir, which must be empty. Commands get PATH and env, as NAME=value. It needs git.
func newSandbox(ctx context.Context, dir string, env ...string) (*sandbox, error) {
	s := &sandbox{dir: filepath.Join(dir, "project")}
	s.env = append([]string{
		"PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH"), "HOME=" + dir, "TZ=UTC", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com",
		"GIT_AUTHOR_DATE=2026-11-23T09:00:00Z", "GIT_COMMITTER_DATE=2026-11-23T09:00:00Z",
	}, env...)
	for _, folder := range []string{"config", "docs", "test/docs/testdata"} {
		if err := os.CopyFS(filepath.Join(s.dir, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			return nil, err
		}
	}
	const commit = "git init -q -b main . && git add -A && git commit -q -m 'What there was' && git update-ref refs/original HEAD"
	if out, err := s.shell(ctx, commit).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a Git repository of the copy (is git installed?): %w: %s", err, out)
	}
	return s, nil
}

func (s *sandbox) shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// run runs commands and returns every difference from what the page shows.
func (s *sandbox) run(ctx context.Context, commands ...harness.Command) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if out, err := s.shell(ctx, "git checkout -q -f -B main refs/original && git clean -fdxq").CombinedOutput(); err != nil {
		return fmt.Errorf("reset the copy: %w: %s", err, out)
	}
	var errs []error
	for _, c := range commands {
		out, err := s.shell(ctx, c.Text).CombinedOutput()
		code := 0
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		} else if err != nil {
			return err
		}
		if code != c.Exit || c.Shown != nil && !matches(c.Shown, string(out)) {
			errs = append(errs, fmt.Errorf("$ %s\ngot exit code %d and\n%swant exit code %d and\n%s", c.Text, code, out, c.Exit, strings.Join(c.Shown, "\n")))
		}
	}
	return errors.Join(errs...)
}

// matches compares the output with what the page shows.
func matches(shown []string, printed string) bool {
	var pattern strings.Builder
	pattern.WriteString("^")
	for _, line := range shown {
		if strings.TrimSpace(line) == "..." {
			pattern.WriteString(`(?:.*\n)*`)
		} else {
			pattern.WriteString(regexp.QuoteMeta(line) + `\n`)
		}
	}
	if printed != "" && !strings.HasSuffix(printed, "\n") {
		printed += "\n"
	}
	return regexp.MustCompile(pattern.String() + "$").MatchString(printed)
}
