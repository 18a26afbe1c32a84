package undecodable_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/watch"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/undecodable"
)

const (
	meta      = `"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","generation":2,"annotations":{"own":"x"},"labels":{"l":"x"}}`
	goodSpec  = `"spec":{"timezone":"UTC","gracePeriodSeconds":60}`
	badSpec   = `"spec":{"timezone":"UTC","gracePeriodSeconds":3000000000}`
	goodState = `"status":{"currentWindow":"day"}`
	badState  = `"status":{"gracePeriodExpiry":"2026-01-01t00:00:00z"}`
)

func object(parts ...string) string {
	return `{"apiVersion":"kyklos.io/v1beta1","kind":"TimeWindowScaler",` + strings.Join(append([]string{meta}, parts...), ",") + `}`
}

// ask sends a request through the transport to a server that answers with body, and returns the answer.
func ask(t *testing.T, target, accept, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	response, err := undecodable.Transport(http.DefaultTransport).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const lists = "/apis/kyklos.io/v1beta1/namespaces/n/timewindowscalers"

// An object loses the part that cannot be decoded, and nothing else but its annotations; the others of the list stay as they
// are.
func TestAListKeepsWhatCanBeDecoded(t *testing.T) {
	for name, tc := range map[string]struct {
		bad          string
		spec, status bool // are kept
	}{
		"spec":          {object(badSpec, goodState), false, true},
		"status":        {object(goodSpec, badState), true, false},
		"both":          {object(badSpec, badState), false, false},
		"not an object": {object(`"spec":"x"`, goodState), false, true},
	} {
		good := object(goodSpec, goodState)
		text := ask(t, lists, "application/json", `{"kind":"TimeWindowScalerList","apiVersion":"kyklos.io/v1beta1","metadata":{"resourceVersion":"9"},"items":[`+tc.bad+`,`+good+`]}`)
		var list v1beta1.TimeWindowScalerList
		if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Items) != 2 || list.ResourceVersion != "9" {
			t.Fatalf("%s: %v: %s", name, err, text)
		}
		is, problem := list.Items[0], undecodable.ProblemOf(&list.Items[0])
		if problem == nil || (problem.Spec == nil) != tc.spec || (problem.Status == nil) != tc.status {
			t.Fatalf("%s: got the problem %+v", name, problem)
		}
		if is.Name != "a" || is.Generation != 2 || is.Labels["l"] != "x" || (is.Spec.Timezone == "UTC") != tc.spec || (is.Status.CurrentWindow == "day") != tc.status {
			t.Errorf("%s: got %+v", name, is)
		}
		other := list.Items[1]
		if undecodable.ProblemOf(&other) != nil || other.Annotations["own"] != "x" || other.Spec.GracePeriodSeconds != 60 {
			t.Errorf("%s: the other one is %+v", name, other)
		}
	}
}

// A scaler is read alone as it is listed.
func TestAScalerReadAlone(t *testing.T) {
	var is v1beta1.TimeWindowScaler
	if err := json.Unmarshal([]byte(ask(t, lists+"/a", "application/json", object(badSpec, goodState))), &is); err != nil {
		t.Fatal(err)
	}
	if problem := undecodable.ProblemOf(&is); problem == nil || problem.Spec == nil || is.Status.CurrentWindow != "day" {
		t.Errorf("got %+v", is)
	}
}

// Half of a Workspace would be misunderstood.
func TestAWorkspaceLosesBothParts(t *testing.T) {
	bad := strings.NewReplacer("v1beta1", "v1alpha1", "TimeWindowScaler", "Workspace").Replace(
		object(`"spec":{"image":"x","archive":{"retain":5}}`, `"status":{"phase":"RUNNING","nextStartAt":"2026-01-01t00:00:00z"}`))
	text := ask(t, "/apis/kyklos.io/v1alpha1/workspaces", "application/json", `{"kind":"WorkspaceList","apiVersion":"kyklos.io/v1alpha1","metadata":{},"items":[`+bad+`]}`)
	var list v1alpha1.WorkspaceList
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	is := list.Items[0]
	if problem := undecodable.ProblemOf(&is); problem == nil || problem.Spec == nil || problem.Status == nil || is.Spec.Archive != nil || is.Status.Phase != "" {
		t.Errorf("got %+v", is)
	}
}

// A watch goes on after an object that cannot be decoded. Bookmarks pass.
func TestAWatchGoesOn(t *testing.T) {
	events := []string{
		`{"type":"ADDED","object":` + object(goodSpec) + `}`,
		`{"type":"MODIFIED","object":` + object(badSpec) + `}`,
		`{"type":"BOOKMARK","object":{"kind":"TimeWindowScaler","apiVersion":"kyklos.io/v1beta1","metadata":{"resourceVersion":"8"}}}`,
		`{"type":"DELETED","object":` + object(goodSpec) + `}`,
	}
	decoder := json.NewDecoder(strings.NewReader(ask(t, lists+"?watch=true", "application/json", strings.Join(events, "\n")+"\n")))
	want := []struct {
		kind watch.EventType
		bad  bool
	}{{watch.Added, false}, {watch.Modified, true}, {watch.Bookmark, false}, {watch.Deleted, false}}
	for i, w := range want {
		var event struct {
			Type   watch.EventType
			Object v1beta1.TimeWindowScaler
		}
		if err := decoder.Decode(&event); err != nil {
			t.Fatal(err)
		}
		if event.Type != w.kind || (undecodable.ProblemOf(&event.Object) != nil) != w.bad {
			t.Errorf("event %d: got %+v", i, event)
		}
	}
}

// Everything else passes through as it is: single objects, metadata, other kinds, and what is no list.
func TestOthersPassThrough(t *testing.T) {
	bad := object(badSpec)
	list := `{"items":[` + bad + `]}`
	for name, tc := range map[string]struct{ target, accept, body string }{
		"a Workspace":    {"/apis/kyklos.io/v1alpha1/namespaces/n/workspaces/a", "application/json", bad},
		"a subresource":  {lists + "/a/status", "application/json", bad},
		"metadata":       {lists, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", list},
		"another kind":   {"/apis/apps/v1/namespaces/n/deployments", "application/json", list},
		"other version":  {"/apis/kyklos.io/v1alpha1/timewindowscalers", "application/json", list},
		"no JSON":        {lists, "application/json", "none"},
		"without change": {lists, "application/json", `{"items":[ ` + object(goodSpec) + `]}`},
	} {
		if got := ask(t, tc.target, tc.accept, tc.body); got != tc.body {
			t.Errorf("%s: got %s, want %s", name, got, tc.body)
		}
	}
}
