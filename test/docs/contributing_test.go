package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The files, folders, packages and verbs that CONTRIBUTING.md names exist. Capitals stand for a name of the contributor's choice.
func TestContributing(t *testing.T) {
	page := readText(t, "CONTRIBUTING.md")
	var paths []string
	for _, match := range regexp.MustCompile("`([a-z][a-z0-9_./-]*/[a-z0-9_./-]*)`").FindAllStringSubmatch(page, -1) {
		paths = append(paths, match[1])
	}
	for _, match := range regexp.MustCompile(`go test ([^`+"`"+`]*)`).FindAllStringSubmatch(page, -1) {
		for _, name := range strings.Fields(match[1]) {
			paths = append(paths, strings.TrimSuffix(name, "/..."))
		}
	}
	for _, path := range paths {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Errorf("CONTRIBUTING.md names %s: %v", path, err)
		}
	}
	makefile := readText(t, "Makefile")
	for _, match := range regexp.MustCompile(`(?m)^    make ([a-z -]+?)(?:  .*)?$`).FindAllStringSubmatch(page, -1) {
		for _, verb := range strings.Fields(match[1]) {
			paths = append(paths, verb)
			if !strings.Contains(makefile, "\n"+verb+":") {
				t.Errorf("CONTRIBUTING.md names the verb %s, which the Makefile lacks", verb)
			}
		}
	}
	if len(paths) < 40 {
		t.Errorf("only %d names were found: %v", len(paths), paths)
	}
}
