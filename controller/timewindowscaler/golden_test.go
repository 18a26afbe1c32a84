package timewindowscaler

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// The wording of all conditions and events is in one file, a section for each test. To change a message,
// change it in the code and run this package's tests with -update.
const goldenFile = "testdata/messages.golden"

var (
	update   = flag.Bool("update", false, "write "+goldenFile)
	messages = readGolden()
)

func TestMain(m *testing.M) {
	code := m.Run()
	if *update && code == 0 {
		var text strings.Builder
		for _, test := range slices.Sorted(maps.Keys(messages)) {
			text.WriteString("== " + test + "\n" + strings.Join(messages[test], "\n") + "\n")
		}
		if err := os.WriteFile(goldenFile, []byte(text.String()), 0o644); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

func readGolden() map[string][]string {
	sections := map[string][]string{}
	text, err := os.ReadFile(goldenFile)
	if err != nil && !os.IsNotExist(err) {
		panic(err)
	}
	test := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "== "); ok {
			test = name
		} else {
			sections[test] = append(sections[test], line)
		}
	}
	return sections
}

// transcript collects the distinct messages that a test sees, and compares them when it ends.
type transcript []string

var transcripts = map[*testing.T]*transcript{}

func newTranscript(t *testing.T) *transcript {
	if known := transcripts[t]; known != nil {
		return known
	}
	seen := &transcript{}
	transcripts[t] = seen
	t.Cleanup(func() {
		delete(transcripts, t)
		switch {
		case len(*seen) == 0:
		case *update:
			messages[t.Name()] = *seen
		default:
			if diff := gocmp.Diff(messages[t.Name()], []string(*seen)); diff != "" {
				t.Errorf("messages (-%s +got)\n%s", goldenFile, diff)
			}
		}
	})
	return seen
}

func (s *transcript) add(line string) {
	if !slices.Contains(*s, line) {
		*s = append(*s, line)
	}
}
