package schedule_test

import (
	"testing"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
)

func TestDriftPolicy(t *testing.T) {
	deployment := v1beta1.TargetRef{Kind: "Deployment", Name: "web"}
	workspace := v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"}
	for name, tc := range map[string]struct {
		target          v1beta1.TargetRef
		written, policy v1beta1.DriftPolicy
	}{
		"a Deployment":                   {deployment, "", v1beta1.DriftEnforce},
		"a Deployment with an HPA":       {deployment, v1beta1.DriftUntilBoundary, v1beta1.DriftUntilBoundary},
		"a Workspace":                    {workspace, "", v1beta1.DriftUntilBoundary},
		"a Workspace with strict hours":  {workspace, v1beta1.DriftEnforce, v1beta1.DriftEnforce},
		"a Workspace of somebody else's": {v1beta1.TargetRef{APIVersion: "example.com/v1", Kind: "Workspace"}, "", v1beta1.DriftEnforce},
	} {
		spec := &v1beta1.TimeWindowScalerSpec{TargetRef: tc.target, DriftPolicy: tc.written}
		if got := schedule.DriftPolicy(spec); got != tc.policy {
			t.Errorf("%s: %s, want %s", name, got, tc.policy)
		}
	}
}
