package lint_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/lint/ruleset"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/config/crd"
)

// Lint says some refusals in words of its own, but none of them less: every refusal of the API server has an error at its field or
// around it.
func TestNoRefusalIsLost(t *testing.T) {
	server, err := apiserver.New(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	options := ruleset.Options{Server: server.WithoutWebhooks(), Namespace: namespace, Now: time.Now()}
	refused := 0
	for _, trial := range trials(t) {
		if trial.unreadable != nil || trial.old != nil {
			continue
		}
		result, err := ruleset.Run(t.Context(), &manifest.Set{Objects: []*manifest.Object{trial.object}}, options)
		if err != nil {
			t.Fatal(err)
		}
		if len(trial.answer.refusals) > 0 {
			refused++
		}
		for _, r := range trial.answer.refusals {
			if !slices.ContainsFunc(result.Findings, func(f lint.Finding) bool { return speaksOf(f, r) }) {
				t.Errorf("%s\n%s\nnothing says %s\n%v", trial.name, abridged(trial.object.Raw), r, result.Findings)
			}
		}
	}
	if refused < least {
		t.Errorf("%d manifests were refused: too few to say anything", refused)
	}
}

// speaksOf reports whether a finding is about the field of a refusal. The server may not name the field; that rules were not evaluated
// is a warning.
func speaksOf(f lint.Finding, r refusal) bool {
	if strings.Contains(r.Message, "some validation rules were not checked") {
		return f.Severity == lint.Warning
	}
	if f.Severity != lint.Error || r.Field == "-" || r.Field == "apiVersion" {
		return f.Severity == lint.Error
	}
	below, ok := strings.CutPrefix(strings.TrimPrefix(r.Field, "<nil>"), f.Field)
	return ok && (below == "" || f.Field == "" || below[0] == '.' || below[0] == '[')
}
