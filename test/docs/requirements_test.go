package docs

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"kyklos.io/kyklos/test/harness"
)

// requirements is the page that lists all rules.
const requirements = "docs/requirements.md"

// How rules are listed and cited. A flag such as -A1, or a part of a path or a longer word, is not a citation.
var (
	listedRule = regexp.MustCompile(`(?m)^- \*\*([TRBAWD][1-9][0-9]?|W[1][0-9][0-9])\*\* .+ \*Source: .+\*$`)
	listItem   = regexp.MustCompile(`(?m)^- .*$`)
	citedRange = regexp.MustCompile(`\b([TRBAWD])([1-9][0-9]?)-([TRBAWD])([1-9][0-9]?)\b`)
	citedRule  = regexp.MustCompile(`(?:^|[^-\w./+=#$%])([TRBAWD][1-9][0-9]?|W[1][0-9][0-9])\b`)
)

// outsidePage is how pages were once cited that are not in this repository. It is put together here so
// that this file does not match.
var outsidePage = regexp.MustCompile(`(?i)(?:the|its|our) se` + `eds?\b|se` + `ed[ -]?[0-9]{3}`)

func TestRequirementsAreListedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, line := range listItem.FindAllString(readText(t, requirements), -1) {
		match := listedRule.FindStringSubmatch(line)
		switch {
		case match == nil:
			t.Errorf("%s: not of the form - **B5** text. *Source: words.*: %s", requirements, line)
		case seen[match[1]]:
			t.Errorf("%s: %s is listed twice", requirements, match[1])
		default:
			seen[match[1]] = true
		}
	}
}

func TestRequirementsAreCited(t *testing.T) {
	listed := map[string]bool{}
	for _, match := range listedRule.FindAllStringSubmatch(readText(t, requirements), -1) {
		listed[match[1]] = true
	}
	cited := map[string]bool{}
	for path, text := range texts(t) {
		if path == requirements {
			continue
		}
		number := 0
		for line := range strings.Lines(text) {
			number++
			for _, rule := range citations(line) {
				cited[rule] = true
				if !listed[rule] {
					t.Errorf("%s:%d: %s does not list the rule %s", path, number, requirements, rule)
				}
			}
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(listed)) {
		if !cited[rule] {
			t.Errorf("%s: the rule %s is cited nowhere", requirements, rule)
		}
	}
}

func TestRequirementsAreInTheRepository(t *testing.T) {
	for path, text := range texts(t) {
		number := 0
		for line := range strings.Lines(text) {
			number++
			if found := outsidePage.FindString(line); found != "" {
				t.Errorf("%s:%d: %q cites a page that is not in the repository; cite a rule of %s", path, number, found, requirements)
			}
		}
	}
}

func TestCitations(t *testing.T) {
	for line, want := range map[string]string{
		"// B5: what":                  "B5",
		"// retried (B10), or T5.":     "B10 T5",
		"// W36, D16":                  "W36 D16",
		"// B10's pace":                "B10",
		`{"D1", "a restore"},`:         "D1",
		`strings.Fields("D1 D2")`:      "D1 D2",
		"(W23, W25-W27)":               "W25 W26 W27 W23",
		"rule W3\n":                    "W3",
		"W80, W104: what":              "W80 W104",
		"grep -A1, a/B2 or B2C, S3":    "",
		"P256, 0xD1, W3C, #D1 or T100": "",
	} {
		if got := strings.Join(citations(line), " "); got != want {
			t.Errorf("%q cites %q, want %q", line, got, want)
		}
	}
}

// citations returns the rules that a line cites, those of ranges first.
func citations(line string) []string {
	var rules []string
	for _, match := range citedRange.FindAllStringSubmatch(line, -1) {
		if match[1] != match[3] {
			continue
		}
		first, _ := strconv.Atoi(match[2])
		last, _ := strconv.Atoi(match[4])
		for number := first; number <= last; number++ {
			rules = append(rules, match[1]+strconv.Itoa(number))
		}
	}
	for _, match := range citedRule.FindAllStringSubmatch(citedRange.ReplaceAllString(line, ""), -1) {
		rules = append(rules, match[1])
	}
	return rules
}

// texts returns all texts of the repository by their paths: what is neither built, nor a picture, nor a
// list of sums.
func texts(t *testing.T) map[string]string {
	t.Helper()
	ignored := []string{".git", "bin", ".devcluster", "rapid"}
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(ignored, entry.Name()) && entry.IsDir():
			return filepath.SkipDir
		case !entry.Type().IsRegular(), slices.Contains([]string{".sum", ".svg", ".test", ".out", ".prof"}, filepath.Ext(path)), entry.Name() == ".git":
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(content) {
			return err
		}
		relative, err := filepath.Rel(root, path)
		found[filepath.ToSlash(relative)] = string(content)
		return err
	})
	harness.Must(t, err)
	return found
}
