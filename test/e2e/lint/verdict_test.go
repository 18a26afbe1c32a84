package lint_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/config/crd"
)

// least is how many manifests the command line has to agree about.
const least = 300

// The verdict on every manifest of the corpus is the API server's: the same refusals and warnings, literally, and
// the same object.
func TestVerdictsAreTheServers(t *testing.T) {
	all := trials(t)
	server, err := apiserver.New(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	server = server.WithoutWebhooks()
	refused, updates := 0, 0
	for _, trial := range all {
		if trial.answer.code >= 300 {
			refused++
		}
		if trial.old != nil {
			updates++
		}
		if strings.HasPrefix(trial.name, "testdata/") && trial.answer.code >= 300 {
			t.Errorf("%s is what mutants are made of, and invalid itself: %s", trial.name, trial.answer.text)
		}
		if diff := disagreement(server, trial); diff != "" {
			t.Errorf("%s\n%s\n%s", trial.name, abridged(trial.object.Raw), diff)
		}
	}
	t.Logf("%d manifests, %d of them updates: %d refused", len(all), updates, refused)
	if len(all) < least || refused < least/2 || len(all)-refused < least/4 {
		t.Errorf("%d manifests, %d refused: too few to say anything", len(all), refused)
	}
}

func abridged(text []byte) string {
	if len(text) > 2000 {
		return string(text[:2000]) + " ..."
	}
	return string(text)
}

// disagreement is how the verdict differs from the answer, "" if it does not.
func disagreement(server *apiserver.Server, t *trial) string {
	if t.unreadable != nil {
		if t.answer.code != 400 {
			return fmt.Sprintf("cannot be read: %v; the server says %s", t.unreadable, t.answer.text)
		}
		return ""
	}
	verdict := server.Create(t.object, namespace)
	if t.old != nil {
		verdict = server.Update(t.old, t.object, namespace)
	}
	want := t.answer.refusals
	got := make([]refusal, 0, len(verdict.Errors))
	for i, err := range verdict.Errors {
		r := refusal{err.Field, err.Message}
		if i < len(want) && want[i].Field == "-" { // the server names no field; the verdict may
			r.Field = "-"
		}
		got = append(got, r)
	}
	var all []string
	if diff := cmp.Diff(inOrder(want, t.object), inOrder(got, t.object), cmpopts.EquateEmpty()); diff != "" {
		all = append(all, fmt.Sprintf("refusals (-server %d +verdict)\n%s\n%s", t.answer.code, diff, t.answer.text))
	}
	if diff := cmp.Diff(t.answer.warnings, verdict.Warnings, cmpopts.EquateEmpty()); diff != "" {
		all = append(all, "warnings (-server +verdict)\n"+diff)
	}
	if t.answer.object != nil {
		if diff := cmp.Diff(comparable(t.answer.object), comparable(verdict.Object)); diff != "" {
			all = append(all, "object (-server +verdict)\n"+diff)
		}
	}
	return strings.Join(all, "\n")
}

// inOrder has the refusals of one object in an order of its own: the server goes through maps. Generated names are made equal.
func inOrder(all []refusal, object *manifest.Object) []refusal {
	all = slices.Clone(all)
	for i := range all {
		all[i].Message = generated(all[i].Message, object.Unstructured().GetGenerateName())
	}
	slices.SortStableFunc(all, func(a, b refusal) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// generated has what was drawn for a name after base replaced by what is always the same.
func generated(text, base string) string {
	if base == "" {
		return text
	}
	name := regexp.MustCompile(regexp.QuoteMeta(base[:min(len(base), 58)]) + `[bcdfghjklmnpqrstvwxz2456789]{5}`)
	return name.ReplaceAllLiteralString(text, base[:min(len(base), 58)]+"xxxxx")
}

// comparable is an object without what only a server can know.
func comparable(object map[string]any) map[string]any {
	copied := (&manifest.Object{Object: object}).Unstructured().DeepCopy()
	metadata := copied.Object["metadata"].(map[string]any)
	for _, name := range []string{"uid", "creationTimestamp", "generation", "resourceVersion", "managedFields"} {
		delete(metadata, name)
	}
	copied.SetName(generated(copied.GetName(), copied.GetGenerateName()))
	return copied.Object
}

// structurals are the schemas of the definitions.
func structurals() (map[schema.GroupVersionKind]*structuralschema.Structural, error) {
	server, err := apiserver.New(crd.Bases)
	if err != nil {
		return nil, err
	}
	all := map[schema.GroupVersionKind]*structuralschema.Structural{}
	for _, kind := range server.Kinds() {
		all[kind] = server.Schema(kind)
	}
	return all, nil
}

func probeOf(what string) *manifest.Object {
	kind, version, _ := strings.Cut(what, "/")
	return fromMap(map[string]any{"apiVersion": "kyklos.io/" + version, "kind": kind, "metadata": map[string]any{"name": "probe"}, "spec": map[string]any{"probe": true}})
}
