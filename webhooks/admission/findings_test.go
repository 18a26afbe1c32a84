package admission_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/webhooks/admission"
)

var update = flag.Bool("update", false, "rewrite testdata")

const messagesFile = "testdata/messages.txt"

// messages are the texts of all findings by test case. Tests check rules and fields; this file has the wording.
var messages = map[string][]string{}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if err := checkMessages(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func checkMessages() error {
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(messages)) {
		fmt.Fprintf(&got, "%s\n    %s\n", name, strings.Join(messages[name], "\n    "))
	}
	if *update {
		return os.WriteFile(messagesFile, []byte(got.String()), 0o644)
	}
	if flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" || flag.Lookup("test.list").Value.String() != "" {
		return nil // some messages were not collected
	}
	want, err := os.ReadFile(messagesFile)
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		return fmt.Errorf("%s: rewrite it with go test -update (-want +got)\n%s", messagesFile, diff)
	}
	return err
}

// checkFindings compares rules and fields, and the type of each error.
func checkFindings(t *testing.T, findings admission.Findings, want []string) {
	t.Helper()
	var got, texts []string
	for _, f := range findings {
		text := fmt.Sprintf("%s %s", f.Rule, f.Field)
		if f.Err != nil {
			text += ": " + f.Err.Type.String()
		}
		got = append(got, text)
		texts = append(texts, f.String())
	}
	if texts != nil {
		messages[t.Name()] = texts
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// findingsCase is an object, what is known about others, and everything that is reported.
type findingsCase struct {
	obj, old *v1beta1.TimeWindowScaler
	facts    admission.Facts
	now      time.Time // november when zero
	want     []string
}

func checkCases(t *testing.T, cases map[string]findingsCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.now.IsZero() {
				tc.now = november
			}
			checkFindings(t, admission.CheckTimeWindowScaler(tc.obj, tc.old, tc.facts, tc.now), tc.want)
		})
	}
}
