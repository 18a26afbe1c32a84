package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groups are how the help sorts the commands: those that need no cluster first.
var groups = []struct {
	cobra.Group
	commands []string
}{
	{cobra.Group{ID: "schedules", Title: "For schedules:"}, []string{"lint", "preview", "explain", "diff", "convert"}},
	{cobra.Group{ID: "cluster", Title: "In a cluster:"}, []string{"manager", "mover", "heartbeat"}},
}

// addGroups sorts the commands of root.
func addGroups(root *cobra.Command) {
	for i := range groups {
		root.AddGroup(&groups[i].Group)
		for _, name := range groups[i].commands {
			if cmd, _, err := root.Find([]string{name}); err == nil && cmd != root {
				cmd.GroupID = groups[i].ID
			}
		}
	}
}

// inCluster reports whether a command is one of those that Kyklos runs in a cluster, or is below one.
func inCluster(cmd *cobra.Command) bool {
	for cmd.HasParent() && cmd.GroupID == "" {
		cmd = cmd.Parent()
	}
	return cmd.GroupID == "cluster"
}

// nameArguments has the help call what a flag takes by the first word of what is said about it, where Go's name of the
// type would stand and it is a file: --filename file, and not --filename stringArray.
func nameArguments(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if word, rest, _ := strings.Cut(flag.Usage, " "); (word == "file" || flag.Value.Type() == "stringArray") && !strings.Contains(flag.Usage, "`") {
				flag.Usage = "`" + word + "` " + rest
			}
		})
	}
}

// explainFlagError says what may have been meant by a flag that does not exist, and where the flags of a command are
// listed; and of a number that is none, that it must be one.
func explainFlagError(cmd *cobra.Command, err error) error {
	hint := fmt.Sprintf("%s --help lists the flags", cmd.CommandPath())
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if meant := similarFlags(cmd, unknown.GetSpecifiedName()); len(meant) > 0 {
			hint = fmt.Sprintf("did you mean %s? %s", strings.Join(meant, " or "), hint)
		}
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok && invalid.GetFlag().Value.Type() == "int" {
		return fmt.Errorf("--%s: must be a whole number, not %q; %s", invalid.GetFlag().Name, invalid.GetValue(), hint)
	}
	return fmt.Errorf("%w; %s", err, hint)
}

// similarFlags are those of a command that are spelled almost like name. Cobra measures that for
// commands, so the flags are dressed as some.
func similarFlags(cmd *cobra.Command, name string) (similar []string) {
	measure := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			measure.AddCommand(&cobra.Command{Use: flag.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	for _, flag := range measure.SuggestionsFor(name) {
		similar = append(similar, "--"+flag)
	}
	return similar
}

// The names under which kubectl finds a plugin, and its shell completion.
const (
	pluginName     = "kubectl-kyklos"
	completionName = "kubectl_complete-kyklos"
)

// asPlugin makes root answer as what it was called as: kubectl runs it as kubectl-kyklos, and has its
// arguments completed by kubectl_complete-kyklos.
func asPlugin(root *cobra.Command, program string, args []string) {
	program = strings.TrimSuffix(filepath.Base(program), ".exe")
	root.SetArgs(args)
	if program == completionName {
		root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, args...))
	}
	if program == pluginName || program == completionName {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kyklos"}
		sayPlugin(root)
	}
}

// sayPlugin has the examples of a command and of those below it call the plugin.
func sayPlugin(cmd *cobra.Command) {
	for _, before := range []string{"  ", "| "} {
		cmd.Example = strings.ReplaceAll(cmd.Example, before+"kyklos ", before+"kubectl kyklos ")
	}
	for _, child := range cmd.Commands() {
		sayPlugin(child)
	}
}
