package chart

import "testing"

// Every command of docs/install.md is run, and does what the page says.
func TestInstallPage(t *testing.T) {
	t.Run("Helm by server-side apply", func(t *testing.T) { testHelm(t, "") })
	t.Run("Helm by three-way merge", func(t *testing.T) { testHelm(t, "--server-side=false") })
	t.Run("Helm and the definition", testDefinition)
	t.Run("kustomize", testKustomize)
	t.Run("another order", testAnotherOrder)
	for _, c := range page(t) {
		if !followed[c.command] {
			t.Errorf("no test runs %s", c.command)
		}
	}
}
