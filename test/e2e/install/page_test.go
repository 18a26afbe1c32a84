package install

import (
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// Every command of docs/install.md runs and does what the page says.
func TestInstallPage(t *testing.T) {
	t.Parallel()
	t.Run("Helm by server-side apply", func(t *testing.T) { testHelm(t, "") })
	t.Run("Helm by three-way merge", func(t *testing.T) { testHelm(t, "--server-side=false") })
	t.Run("Helm and the definition", testDefinition)
	t.Run("kustomize", testKustomize)
	t.Run("another order", testAnotherOrder)
	page := &scenario{T: &harness.T{TB: t}, root: harness.RootFor(t)}
	for _, c := range page.installPage() {
		if !executed[c.Text] {
			t.Errorf("no test runs %s", c.Text)
		}
	}
}
