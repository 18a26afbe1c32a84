package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var groups = []struct {
	cobra.Group
	commands []string
}{
	{cobra.Group{ID: "schedules", Title: "For schedules:"}, []string{"lint", "preview", "explain", "diff", "convert"}},
	{cobra.Group{ID: "workspaces", Title: "For Workspaces:"}, []string{"workspace"}},
	{cobra.Group{ID: "cluster", Title: "In a cluster:"}, []string{"manager", "mover", "heartbeat", "activity"}},
}

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

// inCluster reports whether a command or its parent is in the group for clusters.
func inCluster(cmd *cobra.Command) bool {
	for cmd.HasParent() && cmd.GroupID == "" {
		cmd = cmd.Parent()
	}
	return cmd.GroupID == "cluster"
}

// nameFlagValues shows the first word of a flag's usage as its value in the help, instead of a Go type: --filename file, not
// --filename stringArray.
func nameFlagValues(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if value, rest, _ := strings.Cut(flag.Usage, " "); (value == "file" || flag.Value.Type() == "stringArray") && !strings.Contains(flag.Usage, "`") {
				flag.Usage = "`" + value + "` " + rest
			}
		})
	}
}

func explainFlagError(cmd *cobra.Command, err error) error {
	hint := fmt.Sprintf("%s --help lists the flags", cmd.CommandPath())
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if similar := similarFlags(cmd, unknown.GetSpecifiedName()); len(similar) > 0 {
			hint = fmt.Sprintf("did you mean %s? %s", strings.Join(similar, " or "), hint)
		}
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok && invalid.GetFlag().Value.Type() == "int" {
		return fmt.Errorf("--%s: must be a whole number, not %q; %s", invalid.GetFlag().Name, invalid.GetValue(), hint)
	}
	return fmt.Errorf("%w; %s", err, hint)
}

// similarFlags are flags with similar names. Cobra suggests only commands, so the flags are added to a command as such.
func similarFlags(cmd *cobra.Command, name string) (similar []string) {
	suggester := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			suggester.AddCommand(&cobra.Command{Use: flag.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	for _, flag := range suggester.SuggestionsFor(name) {
		similar = append(similar, "--"+flag)
	}
	return similar
}

// The names of kubectl plugins and their shell completion.
const (
	pluginName     = "kubectl-kyklos"
	completionName = "kubectl_complete-kyklos"
)

// setUpPlugin makes root a kubectl plugin, or its completion, if the program has such a name.
func setUpPlugin(root *cobra.Command, program string, args []string) {
	program = strings.TrimSuffix(filepath.Base(program), ".exe")
	if program == completionName {
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root.SetArgs(args)
	if program == pluginName || program == completionName {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kyklos"}
		rewriteExamples(root)
	}
}

// rewriteExamples replaces kyklos by kubectl kyklos in all examples.
func rewriteExamples(cmd *cobra.Command) {
	for _, before := range []string{"  ", "| "} {
		cmd.Example = strings.ReplaceAll(cmd.Example, before+"kyklos ", before+"kubectl kyklos ")
	}
	for _, child := range cmd.Commands() {
		rewriteExamples(child)
	}
}
