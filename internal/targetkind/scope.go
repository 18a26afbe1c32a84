package targetkind

import "slices"

// Scope is where the manager serves Workspaces, which need far more permissions than anything else. The zero value is
// everywhere.
type Scope struct {
	// Off: nowhere.
	Off bool
	// Namespaces are the only ones; none means all that the manager serves.
	Namespaces []string
}

// Check returns a *ForbiddenError if kind is that of Workspaces and the namespace is not in the scope.
func (s Scope) Check(kind Kind, namespace string) error {
	switch {
	case kind != Workspace:
	case s.Off:
		return &ForbiddenError{Kind: kind, Flag: "--workspaces=false"}
	case len(s.Namespaces) > 0 && !slices.Contains(s.Namespaces, namespace):
		return &ForbiddenError{Kind: kind, Flag: "--workspace-namespaces"}
	}
	return nil
}

// NamespacesOf returns the namespaces in which objects of the kind may be read, given those that the manager serves; none means
// all.
func (s Scope) NamespacesOf(kind Kind, served []string) []string {
	if kind == Workspace && len(s.Namespaces) > 0 {
		return s.Namespaces
	}
	return served
}
