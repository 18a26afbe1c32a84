package manager

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/mover"
)

// newHomeCheckCommand is what the init container of a Pod on an adopted volume runs.
func newHomeCheckCommand() *cobra.Command {
	var volume, terminationLog string
	command := &cobra.Command{
		Use:   "check",
		Short: "Check that a volume has a home",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return checkHome(volume, terminationLog) },
	}
	flags := command.Flags()
	flags.StringVar(&volume, "volume", "", "mount path of the volume; the home is its folder home")
	flags.StringVar(&terminationLog, "termination-log", "/dev/termination-log", "file to write the result to, as JSON; empty for none")
	_ = command.MarkFlagRequired("volume")
	return command
}

// checkHome writes the result to the termination log.
func checkHome(volume, terminationLog string) error {
	result, failed := mover.Result{Code: mover.OK}, mover.CheckHome(volume)
	if failed != nil {
		result = mover.Failed(archive.Key{}, failed)
		result.Key = ""
	}
	if terminationLog == "" {
		return failed
	}
	if err := os.WriteFile(terminationLog, result.JSON(), 0o644); err != nil {
		return fmt.Errorf("write the result %s: %w", result.JSON(), err)
	}
	return failed
}
