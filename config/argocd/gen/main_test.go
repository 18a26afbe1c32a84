package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What users patch into argocd-cm is what the tests of the scripts run.
func TestPatchIsUpToDate(t *testing.T) {
	generated, err := patchOf("../resource_customizations/kyklos.io")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("../argocd-cm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(file), string(generated)); diff != "" {
		t.Errorf("run go generate ./config/argocd/gen (-file +generated):\n%s", diff)
	}
}
