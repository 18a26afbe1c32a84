package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/config/crd"
)

// With Kyklos installed, what its webhooks fill in is in the verdict too. What they refuse beyond it is for package lint's rules.
func TestVerdictsWithKyklos(t *testing.T) {
	withKyklos(t)
	server, err := apiserver.New(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	var all []*trial
	for _, part := range []func() ([]*trial, error){bases, samples, amounts} {
		more, err := part()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, more...)
	}
	asker, err := newAsker()
	if err != nil {
		t.Fatal(err)
	}
	if err := asker.each(all, asker.ask); err != nil {
		t.Fatal(err)
	}
	denied := 0
	for _, trial := range all {
		verdict := server.Create(trial.object, namespace)
		if strings.HasPrefix(trial.answer.text, "admission webhook ") {
			if denied++; len(verdict.Errors) > 0 {
				t.Errorf("%s: the webhook was asked, and the verdict is %v\n%s", trial.name, verdict.Errors, trial.answer.text)
			}
			continue
		}
		own := trial.answer.warnings
		trial.answer.warnings = slices.DeleteFunc(slices.Clone(own), func(text string) bool { return !slices.Contains(verdict.Warnings, text) })
		if diff := disagreement(server, trial); diff != "" {
			t.Errorf("%s\n%s\n%s", trial.name, abridged(trial.object.Raw), diff)
		}
	}
	t.Logf("%d manifests, %d refused by Kyklos alone", len(all), denied)
	if denied == 0 {
		t.Error("Kyklos refused nothing: its webhooks were not called")
	}
}

// amounts are Workspaces that leave out some of their resources, and set others.
func amounts() (all []*trial, err error) {
	for i, resources := range []string{
		`{}`, `{limits: {}}`, `{requests: {}}`, `{limits: {cpu: 100m}}`, `{limits: {memory: 1Gi}}`, `{requests: {cpu: 3}}`, `{requests: {memory: 8Gi}}`, `{requests: {cpu: 3}, limits: {memory: 1Gi}}`,
		`{requests: {cpu: 3}, limits: {cpu: 2}}`, `{requests: {cpu: many}}`, `{limits: {cpu: -1}}`, `{limits: null}`, `{limits: {cpu: null}}`, `{limits: [cpu]}`, `{limits: {example.com/gpu: 1}}`, `{requests: {cpu: 0.25}, limits: {cpu: "1"}}`, `null`, `[]`,
	} {
		found, err := read(fmt.Sprintf("resources %d", i), "{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: a}, spec: {image: a, resources: "+resources+"}}")
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
