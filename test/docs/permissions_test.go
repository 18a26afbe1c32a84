package docs

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/test/harness"
)

// The tables of permissions match the roles exactly.
func TestPermissions(t *testing.T) {
	manager, workspaces := "config/rbac/role.yaml", "config/rbac/workspaces-role.yaml"
	for heading, roles := range map[string][]rbacv1.PolicyRule{
		"## In the whole cluster":        rules(t, manager, "ClusterRole", "kyklos-manager"),
		"## In its own namespace":        rules(t, manager, "Role", "kyklos-manager"),
		"## For Workspaces":              append(rules(t, workspaces, "ClusterRole", ""), rules(t, workspaces, "Role", "")...),
		"## For certificates of its own": append(rules(t, "config/self-managed/role.yaml", "ClusterRole", ""), rules(t, "config/self-managed/role.yaml", "Role", "")...),
		"## People":                      append(rules(t, "config/rbac/people.yaml", "ClusterRole", "kyklos-edit"), rules(t, "config/rbac/people.yaml", "ClusterRole", "kyklos-view")...),
	} {
		if diff := cmp.Diff(rights(roles), shownRights(tableRows(t, "permissions.md", heading))); diff != "" {
			t.Errorf("%s: (-roles +page)\n%s", heading, diff)
		}
	}
	for heading, role := range map[string]string{"## In the whole cluster": "role.yaml", "## For Workspaces": "workspaces/role.yaml"} {
		served := slices.DeleteFunc(tableRows(t, "permissions.md", heading), func(row []string) bool { return len(row) < 5 || row[4] != "namespaced" })
		if diff := cmp.Diff(rights(rules(t, "config/overlays/namespaced/served/"+role, "Role", "")), shownRights(served)); diff != "" {
			t.Errorf("%s in a namespace that is served: (-roles +page)\n%s", heading, diff)
		}
	}
}

// rules returns those of a role in a file. An empty name matches any.
func rules(t *testing.T, path, kind, name string) []rbacv1.PolicyRule {
	t.Helper()
	for _, document := range split(t, []byte(readText(t, path))) {
		var role rbacv1.ClusterRole
		harness.Must(t, yaml.Unmarshal([]byte(document), &role))
		if role.Kind == kind && (name == "" || role.Name == name) {
			return role.Rules
		}
	}
	t.Fatalf("%s has no %s %s", path, kind, name)
	return nil
}

// rights returns lines of resource, verbs and names.
func rights(rules []rbacv1.PolicyRule) []string {
	all := verbs{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				all.add(strings.TrimPrefix(group+"/"+resource, "/"), rule.Verbs, strings.Join(rule.ResourceNames, " "))
			}
		}
	}
	return all.lines()
}

func shownRights(rows [][]string) []string {
	all := verbs{}
	for _, row := range rows {
		all.add(strings.Trim(row[0], "`"), strings.Fields(row[1]), strings.Trim(row[2], "`"))
	}
	return all.lines()
}

// verbs are those of each resource, or of some of its names. The page may give each verb a row.
type verbs map[[2]string][]string

func (v verbs) add(resource string, verbs []string, name string) {
	key := [2]string{resource, name}
	v[key] = append(v[key], verbs...)
}

func (v verbs) lines() []string {
	var lines []string
	for key, all := range v {
		lines = append(lines, strings.TrimSpace(key[0]+": "+strings.Join(slices.Sorted(slices.Values(all)), " ")+" "+key[1]))
	}
	slices.Sort(lines)
	return lines
}
