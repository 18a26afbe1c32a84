package installation

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

// grant is the smallest thing that a role can allow.
type grant struct {
	// namespace is empty for all of them, and for what has none.
	namespace string
	group     string
	// resource may have a subresource, after a slash.
	resource string
	verb     string
	// name is empty for every object.
	name string
}

func (g grant) String() string {
	where := cmp.Or(g.namespace, "everywhere")
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s %s", where, g.verb, strings.TrimPrefix(g.group+"/"+g.resource, "/"), g.name))
}

// allows reports whether the grant is a reason to allow the request.
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

// granted returns all that the roles in the cluster, as they are now, allow the manager.
func (s *site) granted() []grant {
	s.Helper()
	var clusterRoles rbacv1.ClusterRoleList
	var roles rbacv1.RoleList
	var clusterBindings rbacv1.ClusterRoleBindingList
	var bindings rbacv1.RoleBindingList
	s.must(s.admin.List(s.Context(), &clusterRoles))
	s.must(s.admin.List(s.Context(), &roles))
	s.must(s.admin.List(s.Context(), &clusterBindings))
	s.must(s.admin.List(s.Context(), &bindings))
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

func (s *site) expand(found map[grant]bool, namespace string, rules []rbacv1.PolicyRule) {
	s.Helper()
	for _, rule := range rules {
		if len(rule.NonResourceURLs) > 0 || slices.Contains(append(rule.APIGroups, rule.Verbs...), "*") {
			s.Errorf("a rule that is too wide to be measured: %v", rule)
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

// verdict is what the audit log says of the manager.
type verdict struct {
	// granted is all that its roles allow it, and unused what of that it never did.
	granted, unused []grant
	// forbidden is what it tried in vain.
	forbidden []string
	// everybodys is what it did by no role of its own, but by what every authenticated user may.
	everybodys []string
}

func (s *site) judged() verdict {
	s.Helper()
	events, err := s.cluster.Audited(harness.ManagerUser)
	s.must(err)
	v := verdict{granted: s.granted()}
	used, everybodys := map[grant]bool{}, map[string]bool{}
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
			everybodys[everybodysRight(e)] = true
		}
	}
	v.unused = slices.DeleteFunc(slices.Clone(v.granted), func(g grant) bool { return used[g] })
	for right := range everybodys {
		v.everybodys = append(v.everybodys, right)
	}
	slices.Sort(v.everybodys)
	return v
}

// everybodysRight names what a request needs that no role of the manager allows.
func everybodysRight(e *auditv1.Event) string {
	switch path, _, _ := strings.Cut(e.RequestURI, "?"); {
	case e.ObjectRef == nil && (path == "/api" || path == "/apis" || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/apis/")):
		return e.Verb + " discovery"
	case e.ObjectRef == nil:
		return e.Verb + " " + path
	default:
		return fmt.Sprintf("%s %s/%s", e.Verb, e.ObjectRef.APIGroup, e.ObjectRef.Resource)
	}
}

// leastPrivilege fails the test unless the manager, which must have ended, did all that it may and
// tried nothing else. A request is in the audit log a moment after its end.
func (s *site) leastPrivilege(t *testing.T, everybodys ...string) {
	t.Helper()
	var v verdict
	s.eventually("every grant used", func() bool { v = s.judged(); return len(v.unused) == 0 }, func() {
		t.Errorf("granted and never used:\n%s", lines(v.unused))
	})
	t.Logf("%d grants, all used:\n%s\nby every user's rights:\n  %s", len(v.granted), lines(v.granted), strings.Join(v.everybodys, "\n  "))
	if len(v.forbidden) > 0 {
		t.Errorf("forbidden:\n  %s", strings.Join(v.forbidden, "\n  "))
	}
	if len(v.granted) == 0 || !slices.Equal(v.everybodys, everybodys) {
		t.Errorf("by every user's rights the manager did %q, want %q", v.everybodys, everybodys)
	}
}

func lines(grants []grant) string {
	var out strings.Builder
	for _, g := range grants {
		fmt.Fprintf(&out, "  %s\n", g)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
