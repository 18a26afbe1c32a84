package serving

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kyklos.io/kyklos/test/harness"
)

// A real cert-manager issues and injects what config/default asks for.
func TestCertManager(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.testWithoutCertManager()
	i.must(i.cluster.InstallCertManager(t.Context()))
	cainjector, err := i.cluster.StartCertManager(&i.log)
	i.must(err)
	t.Cleanup(func() { _ = cainjector.Stop() })

	i.must(i.cluster.InstallFrom(t.Context(), i.folder(harness.Default), i.service.port()))
	i.awaitCertificates()
	first, firstPort := i.mountedManager(0)
	second, secondPort := i.mountedManager(8 * time.Second) // two nodes are never equally fast
	i.awaitReady(first, second)
	i.testAnswers()
	i.testApplyAgain()

	i.must(i.cluster.InstallFrom(t.Context(), i.folder(harness.Default), i.service.port(), failClosed, shortLived))
	i.testRotation(firstPort, secondPort)
}

// testWithoutCertManager: who forgot it is told so, and need only apply again.
func (i *installation) testWithoutCertManager() {
	i.Helper()
	err := i.cluster.InstallFrom(i.Context(), i.folder(harness.Default), i.service.port())
	if err == nil {
		i.Fatal("config/default was applied to a cluster without cert-manager")
	}
	for _, kind := range []string{"Issuer", "Certificate"} {
		want := fmt.Sprintf(`no matches for kind "%s" in version "cert-manager.io/v1"`, kind)
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "ensure CRDs are installed first") {
			i.Errorf("want %q, got: %v", want, err)
		}
	}
}

// mountedManager starts a replica that reads the Secret's files, which follow the Secret after lag.
func (i *installation) mountedManager(lag time.Duration) (m *harness.Manager, port int) {
	i.Helper()
	dir := i.TempDir()
	ctx, cancel := context.WithTimeout(i.Context(), patience)
	defer cancel()
	volume, err := i.cluster.MountSecret(ctx, harness.SystemNamespace, "kyklos-webhook-tls", dir, lag)
	i.must(err)
	i.Cleanup(func() { i.must(volume.Close()) })
	return i.manager("--webhook-cert-dir=" + dir)
}

// awaitCertificates waits as kubectl wait does, and for the injected CA.
func (i *installation) awaitCertificates() {
	i.Helper()
	_, _, err := i.cluster.Kubectl(i.Context(), "", "wait", "--namespace", harness.SystemNamespace,
		"--for=condition=Ready", "--timeout=4m", "certificate/kyklos-ca", "certificate/kyklos-webhook")
	i.must(err)
	i.eventually("the CA everywhere", func() error {
		bundles, err := i.bundles(i.Context())
		for caller, bundle := range bundles {
			if len(bundle) == 0 {
				err = errors.Join(err, fmt.Errorf("%s has no caBundle", caller))
			}
		}
		return err
	})
}

// testAnswers: every webhook is called and believed.
func (i *installation) testAnswers() {
	i.Helper()
	i.must(i.cluster.Apply(i.Context(), "{apiVersion: v1, kind: Namespace, metadata: {name: answers}}"))
	l := &load{namespace: "answers", objects: i.objects, requests: map[string]int{}}
	for _, turn := range [][2]string{{"v1alpha1", "v1beta1"}, {"v1beta1", "v1alpha1"}} {
		for _, step := range l.steps("answers", turn[0], turn[1]) {
			if err := step.request(i.Context()); err != nil {
				i.Errorf("%s: %v", step.kind, err)
			}
		}
	}
}

// testApplyAgain: nothing that was injected, issued or defaulted is a difference. Controllers may write at
// the same time, so once without a change is enough: an apply that changes something does so every time.
func (i *installation) testApplyAgain() {
	i.Helper()
	manifests, err := i.cluster.Render(i.Context(), i.folder(harness.Default), i.service.port())
	i.must(err)
	i.eventually("an apply that changes nothing", func() error {
		before := i.versions(manifests)
		i.must(i.cluster.Apply(i.Context(), manifests))
		if diff := cmp.Diff(before, i.versions(manifests)); diff != "" {
			return fmt.Errorf("applied again (-before +after):\n%s", diff)
		}
		return nil
	})
	i.awaitCertificates()
}

// versions returns the generation and the resourceVersion of every object.
func (i *installation) versions(manifests string) []string {
	i.Helper()
	const each = `{range .items[*]}{.kind} {.metadata.name}: {.metadata.generation} {.metadata.resourceVersion}{"\n"}{end}`
	out, _, err := i.cluster.Kubectl(i.Context(), manifests, "get", "-f", "-", "-o", "jsonpath="+each)
	i.must(err)
	return strings.Split(strings.TrimSpace(out), "\n")
}

// shortLived renews CA and leaf every 30 seconds. Each outlives what is signed by it or served with it.
// cert-manager's own webhook, which does not run here, would want an hour.
func shortLived(object *unstructured.Unstructured) error {
	if object.GetKind() != "Certificate" {
		return nil
	}
	lives := map[string]time.Duration{"kyklos-ca": 6 * time.Minute, "kyklos-webhook": 4 * time.Minute}
	life, ok := lives[object.GetName()]
	if !ok {
		return errors.New("unknown: how long is it to live?")
	}
	return errors.Join(
		unstructured.SetNestedField(object.Object, life.String(), "spec", "duration"),
		unstructured.SetNestedField(object.Object, (life-30*time.Second).String(), "spec", "renewBefore"),
	)
}
