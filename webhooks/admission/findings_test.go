package admission_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/webhooks/admission"
)

// checkFindings compares rules and fields, and the type of each error. The texts of all findings are in
// testdata/messages.golden.
func checkFindings(t *testing.T, messages *golden.Messages, name string, findings admission.Findings, want []string) {
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
		messages.Add(name, strings.Join(texts, "\n"))
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
	messages := golden.NewMessages(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.now.IsZero() {
				tc.now = november
			}
			checkFindings(t, messages, name, admission.CheckTimeWindowScaler(tc.obj, tc.old, tc.facts, tc.now), tc.want)
		})
	}
}
