package timewindowscaler

import (
	"slices"
	"strings"
	"testing"

	"kyklos.io/kyklos/internal/golden"
)

// transcript collects the distinct messages that a test sees. The wording of all conditions and events is in
// testdata/messages.golden.
type transcript []string

var transcripts = map[*testing.T]*transcript{}

func newTranscript(t *testing.T) *transcript {
	if known := transcripts[t]; known != nil {
		return known
	}
	seen := &transcript{}
	transcripts[t] = seen
	messages := golden.NewMessages(t)
	t.Cleanup(func() {
		delete(transcripts, t)
		if len(*seen) > 0 {
			messages.Add("", strings.Join(*seen, "\n"))
		}
	})
	return seen
}

func (s *transcript) add(line string) {
	if !slices.Contains(*s, line) {
		*s = append(*s, line)
	}
}
