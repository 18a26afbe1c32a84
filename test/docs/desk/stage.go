package desk

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
)

// Stage is where blocks run, one at a time: a copy of the project's files that is as it was before each of them.
type Stage struct {
	lock sync.Mutex
	dir  string
	env  []string
}

// NewStage makes a stage of the project at root in the folder dir, which must be empty. env are further variables, as
// NAME=value; of those of this process only PATH is known to the commands. It needs git.
func NewStage(ctx context.Context, root, dir string, env ...string) (*Stage, error) {
	s := &Stage{dir: filepath.Join(dir, "project")}
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

func (s *Stage) shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// Run runs a block and says all that is not as it is shown.
func (s *Stage) Run(ctx context.Context, b Block) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if out, err := s.shell(ctx, "git checkout -q -f -B main refs/original && git clean -fdxq").CombinedOutput(); err != nil {
		return fmt.Errorf("bring the copy back to what it was: %w: %s", err, out)
	}
	var errs []error
	for _, step := range b.Steps {
		out, err := s.shell(ctx, step.Command).CombinedOutput()
		code := 0
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		} else if err != nil {
			return err
		}
		if code != step.Exit || step.Shown != nil && !matches(step.Shown, string(out)) {
			errs = append(errs, fmt.Errorf("$ %s\n%s(exit %d; shown are exit %d and)\n%s", step.Command, out, code, step.Exit, strings.Join(step.Shown, "\n")))
		}
	}
	return errors.Join(errs...)
}

// matches reports whether what was printed is what is shown.
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
