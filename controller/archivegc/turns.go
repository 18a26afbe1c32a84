package archivegc

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// inTurn orders stores so that namespaces take turns: the first one of each, then the second ones. A namespace with a hundred stores
// that hang delays its own. secrets are those of each store, as NAMESPACE/NAME; one of several namespaces comes in the earliest turn.
func inTurn(secrets map[string][]string) []string {
	stores := map[string]int{}
	turn := map[string]int{}
	for _, id := range slices.Sorted(maps.Keys(secrets)) {
		for _, namespace := range namespacesOf(secrets[id]) {
			if at, known := turn[id]; !known || stores[namespace] < at {
				turn[id] = stores[namespace]
			}
			stores[namespace]++
		}
	}
	return slices.SortedFunc(maps.Keys(secrets), func(a, b string) int { return cmp.Or(turn[a]-turn[b], strings.Compare(a, b)) })
}

// namespacesOf are the namespaces of Secrets, each once.
func namespacesOf(secrets []string) []string {
	namespaces := map[string]bool{}
	for _, secret := range secrets {
		namespace, _, _ := strings.Cut(secret, "/")
		namespaces[namespace] = true
	}
	return slices.Sorted(maps.Keys(namespaces))
}

// fewOfEach are the first few Secrets of each namespace. They are remembered for the time when no Workspace names them.
func fewOfEach(secrets []string) []string {
	seen := map[string]int{}
	return slices.DeleteFunc(secrets, func(secret string) bool {
		namespace, _, _ := strings.Cut(secret, "/")
		seen[namespace]++
		return seen[namespace] > maxSecrets
	})
}
