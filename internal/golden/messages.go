package golden

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const messagesFile = "testdata/messages.golden"

// oneAtATime is held while the messages of a test are compared or written.
var oneAtATime sync.Mutex

// Messages are a test's sections of testdata/messages.golden, which all tests of a package share. A test that does not
// run leaves its sections as they are.
type Messages struct {
	t     testing.TB
	mu    sync.Mutex
	texts map[string]string
}

// NewMessages returns the messages of a test, which are compared when it ends.
func NewMessages(t testing.TB) *Messages {
	m := &Messages{t: t, texts: make(map[string]string)}
	t.Cleanup(m.compare)
	return m
}

// Add records the message of a test case; name is "" for the only one of its test. A case may have the same message more
// than once.
func (m *Messages) Add(name, message string) {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if name != "" {
		name = ": " + name
	}
	name = m.t.Name() + name
	message = strings.TrimRight(message, "\n")
	if before, known := m.texts[name]; known && before != message || strings.Contains(name, "\n") || strings.Contains("\n"+message, "\n== ") {
		m.t.Errorf("%s cannot hold this section, or holds another text: %q, %q", messagesFile, name, message)
	}
	m.texts[name] = message
}

func (m *Messages) compare() {
	if m.t.Failed() || m.t.Skipped() {
		return
	}
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	file, err := readMessages()
	if err != nil {
		m.t.Fatal(err)
	}
	want := make(map[string]string)
	for name, text := range file {
		_, got := m.texts[name]
		if test, _, _ := strings.Cut(name, ": "); test == m.t.Name() && (got || !someSubtests()) {
			want[name] = text
		}
	}
	tests := testsHere()
	exists := func(section string) bool {
		test, _, _ := strings.Cut(section, ": ")
		test, _, _ = strings.Cut(test, "/")
		return tests[test]
	}
	if *update {
		maps.DeleteFunc(file, func(name, _ string) bool {
			_, old := want[name]
			return old || !exists(name)
		})
		maps.Copy(file, m.texts)
		if err := writeMessages(file); err != nil {
			m.t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, m.texts); diff != "" {
		m.t.Errorf("%s (-want +got; go test -update accepts it)\n%s", messagesFile, diff)
	}
	for _, name := range slices.Sorted(maps.Keys(file)) {
		if !exists(name) {
			m.t.Errorf("%s: no test has section %q (go test -update removes it)", messagesFile, name)
		}
	}
}

// someSubtests reports that go test was asked for some subtests only: cases of the others are missing.
func someSubtests() bool {
	return strings.Contains(flag.Lookup("test.run").Value.String()+flag.Lookup("test.skip").Value.String(), "/")
}

var (
	testFunction = regexp.MustCompile(`(?m)^func (Test\w*)\(`)
	// packageTests are the tests of a package by its folder, read once.
	packageTests = make(map[string]map[string]bool)
)

// testsHere returns the names of the package's tests.
func testsHere() map[string]bool {
	folder, err := os.Getwd()
	if tests, read := packageTests[folder]; read && err == nil {
		return tests
	}
	tests := make(map[string]bool)
	packageTests[folder] = tests
	files, _ := filepath.Glob("*_test.go")
	for _, file := range files {
		source, _ := os.ReadFile(file)
		for _, found := range testFunction.FindAllSubmatch(source, -1) {
			tests[string(found[1])] = true
		}
	}
	return tests
}

// readMessages returns the texts of all sections.
func readMessages() (map[string]string, error) {
	sections := make(map[string]string)
	content, err := os.ReadFile(messagesFile)
	if err != nil && (!*update || !os.IsNotExist(err)) {
		return nil, err
	}
	for _, section := range strings.Split("\n"+string(content), "\n== ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		sections[name] = strings.TrimRight(text, "\n")
	}
	return sections, nil
}

func writeMessages(sections map[string]string) error {
	var content strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		fmt.Fprintf(&content, "== %s\n%s\n\n", name, sections[name])
	}
	if err := os.MkdirAll(filepath.Dir(messagesFile), 0o755); err != nil {
		return err
	}
	return os.WriteFile(messagesFile, []byte(content.String()), 0o644)
}
