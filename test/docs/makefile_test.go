package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	goTest   = regexp.MustCompile(`^\t@?(?:cd (\S+) && )?.*go test .*`)
	patterns = regexp.MustCompile(`-(run|bench) '?([A-Za-z|]+)'?`)
)

// A verb whose -run or -bench pattern matches nothing would succeed without running anything.
func TestMakefilePatternsMatch(t *testing.T) {
	found := 0
	for line := range strings.Lines(readText(t, "Makefile")) {
		call := goTest.FindStringSubmatch(line)
		if call == nil {
			continue
		}
		for _, pattern := range patterns.FindAllStringSubmatch(line, -1) {
			prefix := map[string]string{"run": "Test", "bench": "Benchmark"}[pattern[1]]
			for _, name := range strings.Split(pattern[2], "|") {
				found++
				declared := regexp.MustCompile(`(?m)^func ` + prefix + `\w*` + strings.TrimPrefix(name, prefix))
				if !declares(t, testFolders(line, call[1]), declared) {
					t.Errorf("Makefile: -%s %s matches nothing in\n%s", pattern[1], name, line)
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("got %d patterns, want at least 10", found)
	}
}

// testFolders returns the folders that a go test command names, or the one that it runs in.
func testFolders(line, in string) (folders []string) {
	for _, word := range strings.Fields(line) {
		if folder, ok := strings.CutPrefix(word, "./"); ok {
			folders = append(folders, filepath.Join(in, folder))
		}
	}
	if len(folders) == 0 {
		folders = []string{in}
	}
	return folders
}

// declares reports whether a test file in one of the folders matches.
func declares(t *testing.T, folders []string, declared *regexp.Regexp) bool {
	t.Helper()
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if declared.Match(text) {
				return true
			}
		}
	}
	return false
}
