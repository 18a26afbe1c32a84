package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/lifecycle"
)

const guide = "workspaces.md"

// The states match status.displayState, and those that can be requested match the API.
func TestStatesOfTheGuide(t *testing.T) {
	states := []lifecycle.State{lifecycle.Pending, lifecycle.Archived, lifecycle.Standby, lifecycle.Running, lifecycle.Failed, lifecycle.Deleting}
	var names []string
	for _, state := range states {
		names = append(names, string(state))
	}
	sameNames(t, firstColumn(t, guide, "## States"), names)
	desired := []string{string(v1alpha1.DesiredPending), string(v1alpha1.DesiredStandby), string(v1alpha1.DesiredRunning)}
	for _, row := range tableRows(t, guide, "## States") {
		name := strings.Trim(row[0], "`")
		if can, said := slices.Contains(desired, name), row[3] == "yes"; can != said {
			t.Errorf("%s can be asked for: %v; the page says %q", name, can, row[3])
		}
	}
}

// The operations that can be cancelled are those of the engine. The table of operations is generated.
func TestCancelledOperations(t *testing.T) {
	for _, trait := range lifecycle.Traits() {
		if says := strings.Contains(section(readText(t, "docs/"+guide), "## Operations"), string(trait.Operation)+" can be cancelled"); says != trait.Cancel {
			t.Errorf("%s can be cancelled: %v; the page says %v", trait.Operation, trait.Cancel, says)
		}
	}
}

// The keys of a store's Secret match the code, whose error for an unknown key lists them.
func TestKeysOfTheStoresSecret(t *testing.T) {
	_, err := connect.Open(map[string][]byte{"another": nil}, connect.Options{})
	if err == nil {
		t.Fatal("a key that is unknown is taken")
	}
	_, known, _ := strings.Cut(err.Error(), "known keys are ")
	sameNames(t, firstColumn(t, guide, "## The archive's store"), strings.Split(known, ", "))
}

// Each reason for a failure has a remedy.
func TestWaysOut(t *testing.T) {
	_, failures, found := strings.Cut(readText(t, "apis/v1alpha1/workspace_conditions.go"), "// Reasons for failures.\n")
	if !found {
		t.Fatal("there are no reasons for failures")
	}
	var reasons []string
	for _, match := range regexp.MustCompile(`(?m)^\tReason\w+ = "(\w+)"$`).FindAllStringSubmatch(failures, -1) {
		reasons = append(reasons, match[1])
	}
	sameNames(t, firstColumn(t, guide, "## When a Workspace is stuck"), reasons)
}

func TestDeletionPoliciesOfTheGuide(t *testing.T) {
	sameNames(t, firstColumn(t, guide, "## Deleting a Workspace"),
		[]string{string(v1alpha1.DeletionDelete), string(v1alpha1.DeletionArchive), string(v1alpha1.DeletionRetain)})
}

// The guide shows the sample.
func TestGuideShowsTheSample(t *testing.T) {
	shown := yamlBlock.FindStringSubmatch(section(readText(t, "docs/"+guide), "## A Workspace of your own"))
	if shown == nil {
		t.Fatal("no block of YAML")
	}
	_, sample, _ := strings.Cut(readText(t, "config/samples/workspaces/archived.yaml"), "apiVersion:")
	if diff := cmp.Diff("apiVersion:"+sample, shown[1]); diff != "" {
		t.Errorf("-sample +page:\n%s", diff)
	}
}
