package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// BuildMovable builds this project's manager with a clock that a Clock sets.
func BuildMovable(ctx context.Context, binary string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	return BuildMovableFrom(ctx, root, binary)
}

// BuildMovableFrom is BuildMovable of the sources in root.
func BuildMovableFrom(ctx context.Context, root, binary string) error {
	build := exec.CommandContext(ctx, "go", "build", "-tags", "movableclock", "-ldflags=-s -w", "-o", binary, "./cmd/kyklos")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the manager with a movable clock: %w: %s", err, output)
	}
	return nil
}

// Clock is the path of a file that sets the time of managers of BuildMovable. Without the file they use the machine's time.
type Clock string

// Env is the variable for ManagerOptions.Env.
func (c Clock) Env() string { return "KYKLOS_CLOCK_FILE=" + string(c) }

// Set sets the time in UTC, for example to "2025-01-27 09:00:00". The clock runs on from there.
func (c Clock) Set(utc string) error {
	t, err := time.Parse(time.DateTime, utc)
	if err != nil {
		return err
	}
	return c.Shift(time.Until(t))
}

// Shift sets the clock ahead of the machine's time.
func (c Clock) Shift(by time.Duration) error {
	temporary := string(c) + ".new"
	if err := os.WriteFile(temporary, []byte(by.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, string(c))
}
