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
		Long: `Rewrite manifests from one API version of TimeWindowScaler to the other, with the code of the conversion
webhook. Comments, the order of fields and all other documents are preserved.

What v1alpha1 cannot express is listed on stderr with its line, and kept in an annotation.`,
		Example: `  # Print a file in v1beta1
  kyklos convert -f config/samples/v1alpha1/office-hours.yaml --to v1beta1

  # Rewrite all files of a folder, recursively
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
	bindChoice(cmd, &options.to, "to", "", "version to convert to: "+strings.Join(convert.Versions(), " or "), convert.Versions())
	flags.BoolVarP(&options.write, "write", "w", false, "write changed files instead of printing them")
	return cmd
}

// run converts all files before it prints or writes the first, so that an error changes nothing.
func (o convertOptions) run(cmd *cobra.Command) error {
	if err := o.validate(); err != nil {
		return err
	}
	stop := progress(cmd, "Converting the manifests ...")
	defer stop()
	files, err := manifest.Files(o.files, cmd.InOrStdin())
	if err != nil {
		return err
	}
	results, err := convertAll(files, o.to)
	stop()
	if err != nil {
		return fmt.Errorf("nothing was converted:\n%w", err)
	}
	separator := ""
	for i, file := range files {
		for _, note := range results[i].Notes {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s:%d: %s\n", file.Name, note.Line, note.Text)
		}
		if !o.write {
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s%s", separator, results[i].Data); err != nil {
				return err
			}
			separator = "---\n"
			if data := results[i].Data; len(data) > 0 && data[len(data)-1] != '\n' {
				separator = "\n---\n"
			}
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

func convertAll(files []*manifest.File, version string) (results []*convert.Result, err error) {
	for _, file := range files {
		result, fileErr := convert.File(file, version)
		results, err = append(results, result), errors.Join(err, fileErr)
	}
	return results, err
}

func (o convertOptions) validate() error {
	switch {
	case o.to == "":
		return fmt.Errorf("--to is required: %s", strings.Join(convert.Versions(), " or "))
	case len(o.files) == 0:
		return errors.New("no manifests: use -f FILE, -f FOLDER, or -f - for standard input")
	case o.write && slices.Contains(o.files, manifest.Stdin):
		return errors.New("--write: cannot write to standard input; name a file, or leave out --write")
	}
	return checkChoice("to", o.to, convert.Versions())
}

// replaceFile replaces the content of a file atomically. Links and permissions are preserved.
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
