package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/cli/convert"
	"kyklos.io/kyklos/cli/manifest"
)

// convertOptions are the flags of convert.
type convertOptions struct {
	files []string
	to    string
	write bool
}

func newConvertCommand() *cobra.Command {
	var options convertOptions
	cmd := &cobra.Command{
		Use:   "convert [-f FILE|DIR|-]... [FILE|DIR]... --to VERSION",
		Short: "Rewrite manifests from one API version of TimeWindowScaler to the other",
		Long: `Rewrite manifests from one API version of TimeWindowScaler to the other, by the code of the conversion
webhook. Comments, the order of fields and all other documents stay as they are.

What v1alpha1 cannot say is told on stderr, with its line; an annotation carries it.`,
		Example: `  # Print a file in v1beta1
  kyklos convert -f config/samples/v1alpha1/office-hours.yaml --to v1beta1

  # Rewrite all files of a folder, and of those below it
  kyklos convert -f config/samples --to v1beta1 --write

  # In a pipeline
  cat config/samples/percentages.yaml | kyklos convert -f - --to v1alpha1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			options.files = append(options.files, args...)
			return options.run(cmd)
		},
	}
	flags := cmd.Flags()
	bindFiles(flags, &options.files, "")
	flags.StringVar(&options.to, "to", "", "version to convert to: "+strings.Join(convert.Versions(), " or "))
	flags.BoolVarP(&options.write, "write", "w", false, "write changed files back instead of printing them")
	_ = cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(convert.Versions(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// run converts all files before it prints or writes the first, so that an error leaves everything as it is.
func (o convertOptions) run(cmd *cobra.Command) error {
	if err := o.validate(); err != nil {
		return err
	}
	stop := progress(cmd.Context(), cmd.ErrOrStderr(), "Converting the manifests ...")
	defer stop()
	files, err := manifest.Files(o.files, cmd.InOrStdin())
	if err != nil {
		return err
	}
	var results []*convert.Result
	var errs []error
	for _, file := range files {
		result, err := convert.File(file, o.to)
		if err != nil {
			errs = append(errs, err)
		}
		results = append(results, result)
	}
	stop()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("nothing was converted:\n%w", err)
	}
	apart := ""
	for i, file := range files {
		for _, note := range results[i].Notes {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s:%d: %s\n", file.Name, note.Line, note.Text)
		}
		if !o.write {
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s%s", apart, results[i].Data); err != nil {
				return err
			}
			apart = separator(results[i].Data)
			continue
		}
		if results[i].Converted == 0 {
			continue
		}
		if err := replaceFile(file.Name, results[i].Data); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d converted to %s\n", file.Name, results[i].Converted, o.to)
	}
	return nil
}

func (o convertOptions) validate() error {
	switch {
	case o.to == "":
		return fmt.Errorf("--to: say which version, %s", strings.Join(convert.Versions(), " or "))
	case len(o.files) == 0:
		return errors.New("give the manifests: -f FILE, -f FOLDER, or -f - for standard input")
	case !slices.Contains(convert.Versions(), o.to):
		return fmt.Errorf("--to: must be %s, not %q", strings.Join(convert.Versions(), " or "), o.to)
	case o.write && slices.Contains(o.files, manifest.Stdin):
		return errors.New("--write: standard input cannot be written back; name a file, or leave --write out and take what is printed")
	}
	return nil
}

// separator is what has to come between a file and the next one.
func separator(data []byte) string {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return "\n---\n"
	}
	return "---\n"
}

// replaceFile replaces the content of a file, which is at any time the old one or the new one. A link stays one, and
// the permissions stay.
func replaceFile(name string, data []byte) (err error) {
	if name, err = filepath.EvalSymlinks(name); err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	fresh, err := os.CreateTemp(filepath.Dir(name), ".kyklos-*")
	if err != nil {
		return err
	}
	_, err = fresh.Write(data)
	if err = errors.Join(err, fresh.Chmod(info.Mode().Perm()), fresh.Sync(), fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), os.Remove(fresh.Name()))
	}
	return nil
}
