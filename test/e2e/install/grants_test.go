package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"kyklos.io/kyklos/test/harness"
)

// grant is one verb on one resource.
type grant struct {
	// namespace is empty for all namespaces and for cluster-scoped resources.
	namespace string
	group     string
	// resource may have a subresource, after a slash.
	resource string
	verb     string
	// name is empty for all objects.
	name string
}

func (g grant) String() string {
	where := cmp.Or(g.namespace, "everywhere")
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s %s", where, g.verb, strings.TrimPrefix(g.group+"/"+g.resource, "/"), g.name))
}

// allows reports whether the grant allows the request.
func (g grant) allows(e *auditv1.Event) bool {
	ref := e.ObjectRef
	if ref == nil {
		return false
	}
	resource := ref.Resource
	if ref.Subresource != "" {
		resource += "/" + ref.Subresource
	}
	return (g.namespace == "" || g.namespace == ref.Namespace) && g.group == ref.APIGroup &&
		(g.resource == rbacv1.ResourceAll || g.resource == resource) && g.verb == e.Verb && (g.name == "" || g.name == ref.Name)
}

// grants returns everything that the roles in the cluster allow the manager.
func (s *scenario) grants() []grant {
	s.Helper()
	var clusterRoles rbacv1.ClusterRoleList
	var roles rbacv1.RoleList
	var clusterBindings rbacv1.ClusterRoleBindingList
	var bindings rbacv1.RoleBindingList
	s.Must(s.Client.List(s.Context(), &clusterRoles))
	s.Must(s.Client.List(s.Context(), &roles))
	s.Must(s.Client.List(s.Context(), &clusterBindings))
	s.Must(s.Client.List(s.Context(), &bindings))
	rules := map[rbacv1.RoleRef]map[string][]rbacv1.PolicyRule{} // by namespace
	add := func(kind, namespace, name string, r []rbacv1.PolicyRule) {
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
		if rules[ref] == nil {
			rules[ref] = map[string][]rbacv1.PolicyRule{}
		}
		rules[ref][namespace] = r
	}
	for _, r := range clusterRoles.Items {
		add("ClusterRole", "", r.Name, r.Rules)
	}
	for _, r := range roles.Items {
		add("Role", r.Namespace, r.Name, r.Rules)
	}
	found := map[grant]bool{}
	for _, b := range clusterBindings.Items {
		if isManager(b.Subjects) {
			s.expand(found, "", rules[b.RoleRef][""])
		}
	}
	for _, b := range bindings.Items {
		if isManager(b.Subjects) {
			s.expand(found, b.Namespace, append(rules[b.RoleRef][b.Namespace], rules[b.RoleRef][""]...))
		}
	}
	return sorted(found)
}

func isManager(subjects []rbacv1.Subject) bool {
	return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
		return s.Kind == rbacv1.ServiceAccountKind && s.Namespace == harness.SystemNamespace && s.Name == "kyklos-manager"
	})
}

func (s *scenario) expand(found map[grant]bool, namespace string, rules []rbacv1.PolicyRule) {
	s.Helper()
	for _, rule := range rules {
		if len(rule.NonResourceURLs) > 0 || slices.Contains(append(rule.APIGroups, rule.Verbs...), "*") {
			s.Errorf("a rule with wildcards or URLs cannot be measured: %v", rule)
		}
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						found[grant{namespace, group, resource, verb, name}] = true
					}
				}
			}
		}
	}
}

func sorted(set map[grant]bool) []grant {
	return slices.SortedFunc(func(yield func(grant) bool) {
		for g := range set {
			if !yield(g) {
				return
			}
		}
	}, func(a, b grant) int { return strings.Compare(a.String(), b.String()) })
}

// usage compares the manager's grants with the audit log.
type usage struct {
	// granted is what its roles allow, and unused the part of it that it never used.
	granted, unused []grant
	// forbidden are its requests that were refused.
	forbidden []string
	// shared are the rights of every authenticated user that it used.
	shared []string
}

func (s *scenario) usage() usage {
	s.Helper()
	events, err := s.Cluster.Audited(harness.ManagerUser)
	s.Must(err)
	v := usage{granted: s.grants()}
	used, shared := map[grant]bool{}, map[string]bool{}
	for i := range events {
		e := &events[i]
		if e.Annotations["authorization.k8s.io/decision"] != "allow" {
			v.forbidden = append(v.forbidden, e.Verb+" "+e.RequestURI)
			continue
		}
		own := false
		for _, g := range v.granted {
			if g.allows(e) {
				used[g], own = true, true
			}
		}
		if !own {
			shared[sharedRight(e)] = true
		}
	}
	v.unused = slices.DeleteFunc(slices.Clone(v.granted), func(g grant) bool { return used[g] })
	for right := range shared {
		v.shared = append(v.shared, right)
	}
	slices.Sort(v.shared)
	return v
}

// sharedRight names the right of a request that no role of the manager allows.
func sharedRight(e *auditv1.Event) string {
	switch path, _, _ := strings.Cut(e.RequestURI, "?"); {
	case e.ObjectRef == nil && (path == "/api" || path == "/apis" || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/apis/")):
		return e.Verb + " discovery"
	case e.ObjectRef == nil:
		return e.Verb + " " + path
	default:
		return fmt.Sprintf("%s %s/%s", e.Verb, e.ObjectRef.APIGroup, e.ObjectRef.Resource)
	}
}

// leastPrivilege checks that the manager, which must have ended, used all its grants and tried nothing else. A request is in
// the audit log a moment after its end.
func (s *scenario) leastPrivilege(t *testing.T, shared ...string) {
	t.Helper()
	var v usage
	s.Eventually("every grant used", func() error {
		if v = s.usage(); len(v.unused) > 0 {
			return fmt.Errorf("granted and never used:\n%s", lines(v.unused))
		}
		return nil
	})
	t.Logf("%d grants, all used:\n%s\nby every user's rights:\n  %s", len(v.granted), lines(v.granted), strings.Join(v.shared, "\n  "))
	if len(v.forbidden) > 0 {
		t.Errorf("forbidden:\n  %s", strings.Join(v.forbidden, "\n  "))
	}
	if len(v.granted) == 0 || !slices.Equal(v.shared, shared) {
		t.Errorf("the rights of every user: got %q, want %q", v.shared, shared)
	}
}

func lines(grants []grant) string {
	var out strings.Builder
	for _, g := range grants {
		fmt.Fprintf(&out, "  %s\n", g)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
