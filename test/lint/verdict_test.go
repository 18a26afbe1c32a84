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

	"kyklos.io/kyklos/config/crd"
	"kyklos.io/kyklos/internal/lint/apiserver"
	"kyklos.io/kyklos/internal/manifest"
)

// least is how many manifests the command line has to agree about.
const least = 300

// The verdict on every manifest of the corpus is the API server's: the same refusals and warnings, word for word, and
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
	if t.answer.code == 404 { // what kubectl says before it asks
		kind := t.object.GroupVersionKind()
		want := fmt.Sprintf("no matches for kind %q in version %q", kind.Kind, kind.GroupVersion())
		if len(verdict.Errors) != 1 || verdict.Errors[0].Message != want {
			return fmt.Sprintf("got %v, want %s", verdict.Errors, want)
		}
		return ""
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
	if diff := cmp.Diff(inOrder(want), inOrder(got), cmpopts.EquateEmpty()); diff != "" {
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

// drawn is the end of a generated name.
var drawn = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`)

// inOrder has the refusals of one object in an order of its own: the server goes through maps. Generated names are made equal.
func inOrder(all []refusal) []refusal {
	all = slices.Clone(all)
	for i := range all {
		if all[i].Field == "metadata.name" {
			all[i].Message = drawn.ReplaceAllString(all[i].Message, "-xxxxx")
		}
	}
	slices.SortStableFunc(all, func(a, b refusal) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// comparable is an object without what only a server can know.
func comparable(object map[string]any) map[string]any {
	copied := (&manifest.Object{Object: object}).Unstructured().DeepCopy()
	metadata := copied.Object["metadata"].(map[string]any)
	for _, name := range []string{"uid", "creationTimestamp", "generation", "resourceVersion", "managedFields"} {
		delete(metadata, name)
	}
	if name, ok := metadata["name"].(string); ok && metadata["generateName"] != nil {
		metadata["name"] = drawn.ReplaceAllString(name, "-xxxxx")
	}
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
