package targetkind

import (
	"errors"
	"slices"
	"testing"
)

func TestScope(t *testing.T) {
	all := []string{"shop", "team"}
	for name, tc := range map[string]struct {
		scope Scope
		kind  Kind
		flag  string
		reads []string
	}{
		"everywhere":             {Scope{}, Workspace, "", all},
		"nowhere":                {Scope{Off: true}, Workspace, "--workspaces=false", all},
		"here":                   {Scope{Namespaces: []string{"team"}}, Workspace, "", []string{"team"}},
		"elsewhere":              {Scope{Namespaces: []string{"shop"}}, Workspace, "--workspace-namespaces", []string{"shop"}},
		"another kind":           {Scope{Off: true}, DaemonSet, "", all},
		"another kind elsewhere": {Scope{Namespaces: []string{"shop"}}, DaemonSet, "", all},
	} {
		err := tc.scope.Check(tc.kind, "team")
		var forbidden *ForbiddenError
		if errors.As(err, &forbidden) != (tc.flag != "") || forbidden != nil && forbidden.Flag != tc.flag {
			t.Errorf("%s: got %v, want the flag %q", name, err, tc.flag)
		}
		if got := tc.scope.NamespacesOf(tc.kind, all); !slices.Equal(got, tc.reads) {
			t.Errorf("%s: got the namespaces %v, want %v", name, got, tc.reads)
		}
	}
	const want = "this Kyklos does not serve Workspaces here (flag --workspaces=false)"
	if err := (Scope{Off: true}).Check(Workspace, "team"); err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
