package docs

import (
	"maps"
	"regexp"
	"slices"
	"testing"
)

var (
	requirement = regexp.MustCompile(`(?m)^\s*(?:require )?([a-z0-9.-]+\.[a-z]+/\S+) (v\S+)`)
	replacement = regexp.MustCompile(`(?m)^\s*(?:replace )?(\S+) => (\S+) (v\S+)`)
)

// builtOf returns the version of each module that a go.mod leads to.
func builtOf(t *testing.T, gomod string) map[string]string {
	t.Helper()
	text, versions := readText(t, gomod), map[string]string{}
	for _, match := range requirement.FindAllStringSubmatch(text, -1) {
		versions[match[1]] = match[2]
	}
	for _, match := range replacement.FindAllStringSubmatch(text, -1) {
		if _, required := versions[match[1]]; required && match[1] == match[2] {
			versions[match[1]] = match[3]
		}
	}
	if len(versions) < 10 {
		t.Fatalf("%s: found %d modules", gomod, len(versions))
	}
	return versions
}

// The programs of make run and make test have most of their packages in common. Those are compiled once if their modules
// require the same versions.
func TestModulesHaveTheSameVersions(t *testing.T) {
	first, where := map[string]string{}, map[string]string{}
	for _, gomod := range []string{
		"go.mod", "test/platform/devcluster/go.mod", "test/platform/certmanager/go.mod", "test/platform/helm/go.mod", "test/platform/objectstore/go.mod",
	} {
		versions := builtOf(t, gomod)
		for _, module := range slices.Sorted(maps.Keys(versions)) {
			if before, known := first[module]; !known {
				first[module], where[module] = versions[module], gomod
			} else if before != versions[module] {
				t.Errorf("%s has %s %s, but %s has %s: what both compile is compiled twice", gomod, module, versions[module], where[module], before)
			}
		}
	}
}
