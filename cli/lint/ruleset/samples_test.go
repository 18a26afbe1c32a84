package ruleset

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/manifest"
)

// clusterAlone are messages of samples that only a cluster can give rise to, because what it has is not known
// from manifests. Every one of them has to occur.
var clusterAlone = []string{
	"this cluster does not serve external metrics",
	"and nothing else in this cluster has one that can be scaled",
	"Kyklos has no permission to scale",
	" does not exist in namespace ",
	" does not exist in this namespace",
	"must be no more than 15 characters",
}

// place is where the other object of a message stands.
var place = regexp.MustCompile(` \(\S*config/samples/[^)]*\)$`)

// Every file of config/samples says in its first lines what an API server with Kyklos says to it, "# expect: " and
// "# warn: " (see test/docs), and lint says the same.
func TestSamples(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	occurred := make([]bool, len(clusterAlone))
	files := 0
	err := filepath.WalkDir(filepath.Join(root, "config/samples"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" || filepath.Base(path) == "kustomization.yaml" {
			return err
		}
		files++
		refusals, warnings := expected(t, path, occurred)
		errs, warned := refusalsAndWarnings(t, path)
		if !slices.Equal(errs, refusals) || !slices.Equal(warned, warnings) {
			t.Errorf("%s:\ngot  %q\nand  %q\nwant %q\nand  %q", path, errs, warned, refusals, warnings)
		}
		return nil
	})
	if err != nil || files < 150 {
		t.Errorf("%d files: %v", files, err)
	}
	for i, message := range clusterAlone {
		if !occurred[i] {
			t.Errorf("no sample needs the exception for %q", message)
		}
	}
}

// refusalsAndWarnings are those of lint, in the form of an API server.
func refusalsAndWarnings(t *testing.T, path string) (refusals, warnings []string) {
	t.Helper()
	set, err := manifest.Read([]string{path}, nil)
	if err != nil || len(set.Problems) > 0 {
		t.Fatal(err, set.Problems)
	}
	server, err := ownServer()
	if err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), set, Options{Server: server, Namespace: "team", Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		text := place.ReplaceAllString(f.Message, "")
		if f.Field != "" {
			text = f.Field + ": " + text
		}
		switch {
		case f.Severity == lint.Error:
			refusals = append(refusals, comparable(text))
		case f.Rule != lint.DuplicateObject && f.Message != rulesSkipped: // samples of changes, and of many mistakes
			warnings = append(warnings, comparable(text))
		}
	}
	slices.Sort(refusals)
	slices.Sort(warnings)
	return refusals, warnings
}

// expected reads the messages in a sample's comments, without those that need a cluster.
func expected(t *testing.T, path string, occurred []bool) (refusals, warnings []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "$NAMESPACE", "team")
		if i := slices.IndexFunc(clusterAlone, func(part string) bool { return strings.Contains(line, part) }); i >= 0 && strings.HasPrefix(line, "# ") {
			occurred[i] = true
			continue
		}
		if message, ok := strings.CutPrefix(line, "# expect: "); ok {
			refusals = append(refusals, comparable(message))
		} else if message, ok := strings.CutPrefix(line, "# warn: "); ok {
			warnings = append(warnings, comparable(message))
		} else if !strings.HasPrefix(line, "# ") {
			break
		}
	}
	slices.Sort(refusals)
	slices.Sort(warnings)
	return refusals, warnings
}

var (
	unknownField = regexp.MustCompile(`^unknown field "(.*)"$`)
	// hint is what lint adds to a message.
	hint = regexp.MustCompile(`( in body must be of type string: "integer"); write .*$`)
)

// comparable puts the field of a message of an API server in front, as lint does.
func comparable(message string) string {
	message = hint.ReplaceAllString(message, "$1")
	message = unknownField.ReplaceAllString(message, "$1: unknown field")
	return strings.TrimPrefix(message, "<nil>: ")
}
