// Command release packs, signs, publishes and verifies a release of Kyklos. See docs/image.md and docs/releasing.md for the
// Makefile's verbs. Its output is reproducible: it depends on neither the time nor the folder nor the machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"
)

// release is what the binaries were built from and where the release goes.
type release struct {
	version, commit string
	// date is that of the commit; every time in the release is this one.
	date time.Time
	// registry is the repository prefix of the image and the chart; empty if the release is not pushed.
	registry string
	// downloads is the URL below which the archives are served; empty leaves out the krew manifest.
	downloads string
	builder   string
}

// commands are the subcommands; each parses its own flags.
var commands = map[string]func(ctx context.Context, flags *flag.FlagSet, args []string, stdout io.Writer) error{
	"image":  imageCommand,
	"pack":   packCommand,
	"key":    keyCommand,
	"sign":   signCommand,
	"verify": verifyCommand,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return fmt.Errorf("usage: release image|pack|key|sign|verify [flags]")
	}
	return commands[args[0]](ctx, flag.NewFlagSet(args[0], flag.ExitOnError), args[1:], stdout)
}

// parse reads the flags and fails if one of the required ones is empty.
func parse(flags *flag.FlagSet, args []string, required ...string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, name := range required {
		if flags.Lookup(name).Value.String() == "" {
			return fmt.Errorf("--%s must be given", name)
		}
	}
	return nil
}

// sourceFlags are those that say what the binaries were built from.
func sourceFlags(flags *flag.FlagSet) (of *release) {
	of = &release{}
	flags.StringVar(&of.version, "version", "", "version of the binaries, also the image's tag (required)")
	flags.StringVar(&of.commit, "commit", "", "commit that they were built from (required)")
	flags.TextVar(&of.date, "date", time.Time{}, "the commit's date as RFC 3339 (required)")
	return of
}

func imageCommand(_ context.Context, flags *flag.FlagSet, args []string, stdout io.Writer) error {
	of := sourceFlags(flags)
	out := flags.String("out", "", "folder to write to (required)")
	if err := parse(flags, args, "version", "commit", "date", "out"); err != nil {
		return err
	}
	programs, err := readPrograms(flags.Args())
	if err != nil {
		return err
	}
	return packImage(*of, *out, programs, stdout)
}

// releaseVersion is a semantic version that is also a tag in a registry, which allows no "+".
var releaseVersion = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func packCommand(_ context.Context, flags *flag.FlagSet, args []string, stdout io.Writer) error {
	of := sourceFlags(flags)
	flags.StringVar(&of.registry, "registry", "", "registry and path that the release will be pushed to")
	flags.StringVar(&of.downloads, "downloads", "", "URL below which the archives will be served; the krew manifest needs it")
	flags.StringVar(&of.builder, "builder", "", "URI of what builds the release, for the provenance (required)")
	source := flags.String("source", "", "the project's folder (required)")
	out := flags.String("out", "", "folder to write to (required)")
	if err := parse(flags, args, "version", "commit", "date", "builder", "source", "out"); err != nil {
		return err
	}
	if !releaseVersion.MatchString(of.version) {
		return fmt.Errorf("--version: must be a version such as v0.1.0, not %q", of.version)
	}
	of.downloads = strings.TrimSuffix(of.downloads, "/")
	programs, err := readPrograms(flags.Args())
	if err != nil {
		return err
	}
	return pack(*of, *source, *out, programs, stdout)
}

func keyCommand(_ context.Context, flags *flag.FlagSet, args []string, stdout io.Writer) error {
	path := flags.String("key", "", "file to write the private key to; the public key goes beside it, as .pub (required)")
	if err := parse(flags, args, "key"); err != nil {
		return err
	}
	return writeKey(*path, stdout)
}

func signCommand(ctx context.Context, flags *flag.FlagSet, args []string, stdout io.Writer) error {
	folder := flags.String("dir", "", "folder with the packed release (required)")
	key := flags.String("key", "", "private key; its password is in COSIGN_PASSWORD (required)")
	registry := flags.String("registry", "", "registry and path to push to; empty signs the files only")
	if err := parse(flags, args, "dir", "key"); err != nil {
		return err
	}
	signer, err := loadSigner(*key)
	if err != nil {
		return err
	}
	packed, err := signFiles(*folder, signer)
	if err != nil || *registry == "" {
		return err
	}
	return push(ctx, packed, *registry, signer, stdout)
}

func verifyCommand(ctx context.Context, flags *flag.FlagSet, args []string, stdout io.Writer) error {
	key := flags.String("key", "", "public key (required)")
	registry := flags.String("registry", "", "registry and path that the release was pushed to (required)")
	version := flags.String("version", "", "version to verify (required)")
	out := flags.String("out", "", "folder to write the verified files to; empty writes none")
	if err := parse(flags, args, "key", "registry", "version"); err != nil {
		return err
	}
	verifier, err := loadVerifier(*key)
	if err != nil {
		return err
	}
	return verify(ctx, *registry, *version, *out, verifier, stdout)
}
