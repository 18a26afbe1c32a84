package lint_test

import (
	"context"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/lint/ruleset"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/config/crd"
)

const argocdSample = "../../../docs/pipelines/argocd/"

// The Job of docs/pipelines.md may read what lint asks a cluster, with its Role and no other.
func TestJobMayRead(t *testing.T) {
	withKyklos(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	admin, err := cluster.Client()
	if err != nil {
		t.Fatal(err)
	}
	const namespace = "presync"
	if err := admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	rbac, err := os.ReadFile(argocdSample + "lint-rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := cluster.Kubectl(ctx, string(rbac), "apply", "-n", namespace, "-f", "-"); err != nil {
		t.Fatal(err, stderr)
	}
	config := rest.CopyConfig(cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + namespace + ":kyklos-lint",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}
	set, err := manifest.Read([]string{argocdSample + "deploy"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	options := ruleset.Options{Namespace: namespace, Now: time.Now()}
	if options.Server, err = apiserver.New(crd.Bases); err != nil {
		t.Fatal(err)
	}
	if options.Cluster, err = ruleset.NewCluster(config, clock.RealClock{}); err != nil {
		t.Fatal(err)
	}
	result, err := ruleset.Run(ctx, set, options)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Notes) > 0 {
		t.Error("what could not be read:", result.Notes)
	}
	if len(result.Findings) != 1 || result.Findings[0].Rule != "target-missing" {
		t.Errorf("%+v, want that the target is missing", result.Findings)
	}
}
