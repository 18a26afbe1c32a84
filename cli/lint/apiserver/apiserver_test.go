package apiserver_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/config/crd"
)

// test/e2e/lint compares the answers with a real API server's. The tests here are about what goes beyond those.

const office = `apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata:
  name: office
spec:
  targetRef: {kind: Deployment, name: web}
  timezone: Europe/Berlin
  windows:
  - days: [Mon]
    start: "09:00"
    end: "17:00"
    replicas: 3
  defaultReplicas: 0
`

func newServer(t *testing.T) *apiserver.Server {
	t.Helper()
	server, err := apiserver.New(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// edited is office after replacements of the first of each pair by the second.
func edited(t *testing.T, edits ...string) *manifest.Object {
	t.Helper()
	text := office
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("%q is not in the object", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	return parse(t, text)[0]
}

// The server says what is wrong in a text, but not always where. The field leads to the place.
func TestFieldsOfTexts(t *testing.T) {
	for name, tc := range map[string]struct {
		edit []string
		want []apiserver.Error
	}{
		"a key twice": {[]string{"    replicas: 3", "    replicas: 3\n    replicas: 4"},
			[]apiserver.Error{{Rule: lint.DuplicateField, Field: "spec.windows[0].replicas", Message: `key "replicas" already set in map`}}},
		"keys twice, of the same name": {[]string{"name: web}", "name: web, name: api}", "  timezone: Europe/Berlin", "  timezone: UTC\n  timezone:\n    UTC", "name: office", "name: office\n  name: other"},
			[]apiserver.Error{
				{Rule: lint.DuplicateField, Field: "metadata.name", Message: `key "name" already set in map`},
				{Rule: lint.DuplicateField, Field: "spec.targetRef.name", Message: `key "name" already set in map`},
				{Rule: lint.DuplicateField, Field: "spec.timezone", Message: `key "timezone" already set in map`},
			}},
		"an unknown field": {[]string{"days:", "colour: red\n    days:", "  name: office", "  name: office\n  colour: red"},
			[]apiserver.Error{
				{Rule: lint.UnknownField, Field: "metadata.colour", Message: "unknown field"},
				{Rule: lint.UnknownField, Field: "spec.windows[0].colour", Message: "unknown field"},
			}},
		"a label that is a number": {[]string{"name: office", "name: office\n  labels: {a: 1}"},
			[]apiserver.Error{{Rule: lint.Invalid, Field: "metadata.labels", Message: "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"}}},
		"a version that is none": {[]string{"v1beta1", "v1"},
			[]apiserver.Error{{Rule: lint.Invalid, Field: "apiVersion", Message: `no matches for kind "TimeWindowScaler" in version "kyklos.io/v1"`}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, newServer(t).Create(edited(t, tc.edit...), "shop").Errors); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// kubectl merges the keys of a merge key before it sends an object: only what is written twice is twice. For the server itself, which
// may get the text as it is, all of them are duplicates.
func TestMergeKeys(t *testing.T) {
	for name, tc := range map[string]struct {
		edit []string
		want []apiserver.Error
	}{
		"a key of a merge key": {[]string{"  - days: [Mon]", "  - &w\n    days: [Mon]", "    replicas: 3", "    replicas: 3\n  - <<: *w\n    days: [Tue]\n    replicas: 4\n  - days: [Wed]\n    <<: [*w, *w]"}, nil},
		"a key of a merge key, and one twice": {[]string{"  - days: [Mon]", "  - &w\n    days: [Mon]", "    replicas: 3", "    replicas: 3\n  - <<: *w\n    days: [Tue]\n    days: [Wed]"},
			[]apiserver.Error{{Rule: lint.DuplicateField, Field: "spec.windows[1].days", Message: `key "days" already set in map`}}},
		"a key twice where it is merged from": {[]string{"  - days: [Mon]", "  - &w\n    days: [Mon]", "    replicas: 3", "    replicas: 3\n    replicas: 4\n  - <<: *w\n    days: [Tue]"},
			[]apiserver.Error{{Rule: lint.DuplicateField, Field: "spec.windows[0].replicas", Message: `key "replicas" already set in map`}}},
		"a merge key, and an unknown field": {[]string{"{kind: Deployment, name: web}", "{<<: {kind: DaemonSet, colour: red}, kind: Deployment, name: web}"},
			[]apiserver.Error{{Rule: lint.UnknownField, Field: "spec.targetRef.colour", Message: "unknown field"}}},
	} {
		t.Run(name, func(t *testing.T) {
			object := edited(t, tc.edit...)
			if diff := cmp.Diff(tc.want, newServer(t).ForKubectl().Create(object, "shop").Errors); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			direct := newServer(t).Create(object, "shop").Errors
			if !slices.ContainsFunc(direct, func(e apiserver.Error) bool { return e.Rule == lint.DuplicateField && e.Field == "" }) {
				t.Errorf("without kubectl: %v", direct)
			}
		})
	}
}

// Kyklos's webhooks fill in what they would, and nothing where they are away.
func TestWebhooksFillIn(t *testing.T) {
	server := newServer(t)
	namespace := func(s *apiserver.Server, object *manifest.Object) string {
		response := s.Create(object, "shop")
		if len(response.Errors) > 0 {
			t.Fatal(response.Errors)
		}
		found, _, _ := unstructured.NestedString(response.Object, "spec", "targetRef", "namespace")
		return found
	}
	for _, tc := range []struct {
		object *manifest.Object
		want   string
	}{
		{edited(t), "shop"},
		{edited(t, "name: office", "name: office\n  namespace: desk"), "desk"},
		{edited(t, "v1beta1", "v1alpha1"), "shop"},
		{edited(t, "name: web", "name: web, namespace: other"), "other"},
	} {
		if got := namespace(server, tc.object); got != tc.want {
			t.Errorf("%s: the namespace is %q, want %q", tc.object.Raw, got, tc.want)
		}
	}
	if got := namespace(server.WithoutWebhooks(), edited(t)); got != "" {
		t.Errorf("without webhooks the namespace is %q", got)
	}
	home := parse(t, "{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: a}, spec: {image: a, resources: {limits: {cpu: 100m}}}}")[0]
	response := server.Create(home, "shop")
	got, _, _ := unstructured.NestedMap(response.Object, "spec", "resources", "requests")
	if diff := cmp.Diff(map[string]any{"cpu": "100m", "memory": "512Mi"}, got); diff != "" || len(response.Errors) > 0 {
		t.Errorf("%v (-want +got)\n%s", response.Errors, diff)
	}
}

// An update may change the version: what is stored is shown in that of the request, as conversion does it.
func TestUpdateInAnotherVersion(t *testing.T) {
	server := newServer(t)
	const broken = "Mars/Olympus_Mons"
	for name, tc := range map[string]struct {
		old, object *manifest.Object
		want        []string
	}{
		"to v1beta1":                   {edited(t, "v1beta1", "v1alpha1"), edited(t), nil},
		"to v1alpha1":                  {edited(t), edited(t, "v1beta1", "v1alpha1"), nil},
		"to v1beta1, unchanged fault":  {edited(t, "v1beta1", "v1alpha1", "Europe/Berlin", broken), edited(t, "Europe/Berlin", broken), nil},
		"to v1alpha1, unchanged fault": {edited(t, "Europe/Berlin", broken), edited(t, "v1beta1", "v1alpha1", "Europe/Berlin", broken, "replicas: 3", "replicas: 4"), nil},
		"to v1alpha1, a new fault":     {edited(t), edited(t, "v1beta1", "v1alpha1", "Europe/Berlin", "Local"), []string{"spec.timezone"}},
		"from another kind": {parse(t, "{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: a}, spec: {image: a}}")[0], edited(t),
			[]string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			var fields []string
			for _, err := range server.Update(tc.old, tc.object, "shop").Errors {
				fields = append(fields, err.Field)
			}
			if diff := cmp.Diff(tc.want, fields, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A response leaves the manifest as it was read, and is the same each time.
func TestValidationReadsOnly(t *testing.T) {
	server := newServer(t)
	object, old := edited(t, "name: office", "generateName: office-"), edited(t)
	before, stored := object.Unstructured().DeepCopy().Object, old.Unstructured().DeepCopy().Object
	first := server.Create(object, "shop")
	if diff := cmp.Diff(first, server.Create(object, "shop")); diff != "" {
		t.Errorf("the second response differs\n%s", diff)
	}
	server.Update(old, old, "shop")
	if diff := cmp.Diff([]any{before, stored}, []any{object.Object, old.Object}); diff != "" {
		t.Errorf("a manifest was changed\n%s", diff)
	}
}

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - {name: v1beta1, served: true, storage: false, deprecated: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1beta2, served: true, storage: false, deprecated: true, deprecationWarning: old!, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1alpha1, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

func TestDefinitions(t *testing.T) {
	files := func(text string) fstest.MapFS {
		return fstest.MapFS{"things.yml": {Data: []byte(text)}, "readme.md": {Data: []byte("{")}}
	}
	server, err := apiserver.New(crd.Bases, files(definition))
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string][]string{
		"v1beta1": {"example.com/v1beta1 Thing is deprecated; use example.com/v2 Thing"}, "v1beta2": {"old!"}, "v1": nil, "v2": nil,
	} {
		response := server.Create(parse(t, "{apiVersion: example.com/"+version+", kind: Thing, metadata: {name: a}}")[0], "shop")
		if diff := cmp.Diff(want, response.Warnings, cmpopts.EquateEmpty()); diff != "" || len(response.Errors) > 0 {
			t.Errorf("%s: %v %s", version, response.Errors, diff)
		}
	}
	for kind, want := range map[string]bool{
		"example.com/v1 Thing": true, "example.com/v1alpha1 Thing": true, "example.com/v1 Other": true, "example.com/v1 ThingList": false,
		"kyklos.io/v1beta1 TimeWindowScaler": true, "apps/v1 Deployment": false,
	} {
		apiVersion, name, _ := strings.Cut(kind, " ")
		if got := server.Knows(schema.FromAPIVersionAndKind(apiVersion, name)); got != want {
			t.Errorf("%s is known: %t", kind, got)
		}
	}
	if got := len(server.Kinds()); got != 7 {
		t.Errorf("%d kinds and versions are served: %v", got, server.Kinds())
	}
	for text, want := range map[string]string{
		"": "no CustomResourceDefinition given", "[": "things.yml:1: ",
		strings.Replace(definition, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1): "things.yml: CustomResourceDefinition things.example.com: apiextensions.k8s.io/v1beta1 is no longer served by Kubernetes",
		strings.Replace(definition, ", schema: {openAPIV3Schema: {type: object}}", "", 1):         "things.yml: CustomResourceDefinition things.example.com: version v1beta1: no schema",
		strings.Replace(definition, "group: example.com", "group: 5", 1):                          "things.yml: CustomResourceDefinition things.example.com: ",
	} {
		if _, err := apiserver.New(files(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
