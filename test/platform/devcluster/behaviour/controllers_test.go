package behaviour_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// apply sends a manifest through kubectl.
func apply(t *testing.T, c *cluster, manifest string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	must(t, os.WriteFile(file, []byte(manifest), 0o600))
	c.kubectl(t, "apply", "-f", file)
}

func TestRootCertificateIsPublished(t *testing.T) {
	c, ns := everyones(t)
	eventually(t, "kube-root-ca.crt", func(ctx context.Context) error {
		root, err := c.client.CoreV1().ConfigMaps(ns).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		if err == nil && root.Data["ca.crt"] != string(c.config.CAData) {
			t.Fatalf("published authority differs from the kubeconfig's:\n%s", root.Data["ca.crt"])
		}
		return err
	})
}

func TestDisruptionBudgetCounts(t *testing.T) {
	c, ns := everyones(t)
	deploy(t, c, ns, 3, nil)
	available(t, c, ns, 3)
	c.kubectl(t, "-n", ns, "create", "poddisruptionbudget", "web", "--selector=app=web", "--min-available=2")
	eventually(t, "PodDisruptionBudget status", func(ctx context.Context) error {
		pdb, err := c.client.PolicyV1().PodDisruptionBudgets(ns).Get(ctx, "web", metav1.GetOptions{})
		if err == nil && (pdb.Status.CurrentHealthy != 3 || pdb.Status.DisruptionsAllowed != 1) {
			err = fmt.Errorf("status is %+v", pdb.Status)
		}
		return err
	})
}

func TestClusterRolesAggregate(t *testing.T) {
	c, ns := everyones(t)
	label := map[string]string{"aggregate-" + ns: "true"}
	rule := rbacv1.PolicyRule{APIGroups: []string{"kyklos.io"}, Resources: []string{"timewindowscalers"}, Verbs: []string{"get"}}
	roles := c.client.RbacV1().ClusterRoles()
	for _, role := range []*rbacv1.ClusterRole{
		{ObjectMeta: metav1.ObjectMeta{Name: "part-" + ns, Labels: label}, Rules: []rbacv1.PolicyRule{rule}},
		{ObjectMeta: metav1.ObjectMeta{Name: "whole-" + ns}, AggregationRule: &rbacv1.AggregationRule{
			ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: label}}}},
	} {
		if _, err := roles.Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "aggregated rules", func(ctx context.Context) error {
		whole, err := roles.Get(ctx, "whole-"+ns, metav1.GetOptions{})
		if err == nil && len(whole.Rules) != 1 {
			err = fmt.Errorf("rules are %+v", whole.Rules)
		}
		return err
	})
}

// A claim in use by a pod outlives its deletion until the pod is gone.
func TestClaimInUseIsProtected(t *testing.T) {
	c, ns := everyones(t)
	claims := c.client.CoreV1().PersistentVolumeClaims(ns)
	if _, err := claims.Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	spec := template(nil).Spec
	spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	if _, err := c.client.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "user"}, Spec: spec}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.kubectl(t, "-n", ns, "wait", "--for=condition=Ready", "pod/user", "--timeout=5m")
	must(t, claims.Delete(t.Context(), "data", metav1.DeleteOptions{}))
	if claim, err := claims.Get(t.Context(), "data", metav1.GetOptions{}); err != nil || claim.DeletionTimestamp == nil {
		t.Fatalf("claim in use: %v, %v; want it there and terminating", claim, err)
	}
	c.kubectl(t, "-n", ns, "delete", "pod/user")
	eventually(t, "claim gone", func(ctx context.Context) error {
		_, err := claims.Get(ctx, "data", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("claim is still there: %v", err)
	})
}

// migrated is a CRD whose storage version is the first or the second of v1 and v2.
func migrated(storage string) string {
	version := func(name string) string {
		return fmt.Sprintf("  - {name: %s, served: true, storage: %t, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}\n",
			name, name == storage)
	}
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: movables.test.kyklos.io}
spec:
  group: test.kyklos.io
  scope: Namespaced
  names: {plural: movables, singular: movable, kind: Movable, listKind: MovableList}
  versions:
` + version("v1") + version("v2")
}

// Moving a storage version with the built-in migrator, as an upgrade of Kyklos may.
func TestStorageVersionMigrationSucceeds(t *testing.T) {
	c, ns := everyones(t)
	apply(t, c, migrated("v1"))
	c.kubectl(t, "wait", "--for=condition=Established", "crd/movables.test.kyklos.io", "--timeout=5m")
	apply(t, c, "apiVersion: test.kyklos.io/v1\nkind: Movable\nmetadata: {name: one, namespace: "+ns+"}\n")
	apply(t, c, migrated("v2"))
	apply(t, c, "apiVersion: storagemigration.k8s.io/v1\nkind: StorageVersionMigration\nmetadata: {name: movables}\n"+
		"spec: {resource: {group: test.kyklos.io, resource: movables}}\n")
	c.kubectl(t, "wait", "--for=condition=Succeeded", "storageversionmigration/movables", "--timeout=5m")
	stored := func() string {
		return c.kubectl(t, "get", "crd", "movables.test.kyklos.io", "-o", "jsonpath={.status.storedVersions}")
	}
	eventually(t, "stored versions", func(context.Context) error {
		if now := stored(); strings.TrimSpace(now) != `["v2"]` {
			return fmt.Errorf("stored versions are %s", now)
		}
		return nil
	})
}
