package webhooks

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

// A real cert-manager issues and injects the certificates of config/default.
func TestCertManager(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.testWithoutCertManager()
	s.Must(s.Cluster.InstallCertManager(t.Context()))
	cainjector, err := s.Cluster.StartCertManager(s.ManagerLog)
	s.Must(err)
	t.Cleanup(func() { _ = cainjector.Stop() })

	s.Must(s.Cluster.InstallFrom(t.Context(), s.folder(harness.Default), s.service.port()))
	s.awaitCertificates()
	first, firstPort := s.mountedManager(0)
	second, secondPort := s.mountedManager(8 * time.Second) // two nodes are never equally fast
	s.AwaitReady(first, second)
	s.testAnswers()
	s.testApplyAgain()

	s.Must(s.Cluster.InstallFrom(t.Context(), s.folder(harness.Default), s.service.port(), failClosed, shortLived))
	s.testRotation(firstPort, secondPort)
}

// testWithoutCertManager checks the errors of an apply without cert-manager.
func (s *scenario) testWithoutCertManager() {
	s.Helper()
	err := s.Cluster.InstallFrom(s.Context(), s.folder(harness.Default), s.service.port())
	if err == nil {
		s.Fatal("config/default applied without cert-manager")
	}
	for _, kind := range []string{"Issuer", "Certificate"} {
		want := fmt.Sprintf(`no matches for kind "%s" in version "cert-manager.io/v1"`, kind)
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "ensure CRDs are installed first") {
			s.Errorf("got %v, want %q", err, want)
		}
	}
}

// mountedManager starts a replica that reads the Secret's files, which follow the Secret after lag.
func (s *scenario) mountedManager(lag time.Duration) (m *harness.Manager, port int) {
	s.Helper()
	dir := s.TempDir()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	volume, err := s.Cluster.MountSecret(ctx, harness.SystemNamespace, "kyklos-webhook-tls", dir, lag)
	s.Must(err)
	s.Cleanup(func() { s.Must(volume.Close()) })
	return s.manager("--webhook-cert-dir=" + dir)
}

// awaitCertificates waits as kubectl wait does, and for the injected CA.
func (s *scenario) awaitCertificates() {
	s.Helper()
	s.Kubectl("", "wait", "--namespace", harness.SystemNamespace,
		"--for=condition=Ready", "--timeout=4m", "certificate/kyklos-ca", "certificate/kyklos-webhook")
	s.Eventually("the CA everywhere", func() error {
		bundles, err := s.bundles(s.Context())
		for caller, bundle := range bundles {
			if len(bundle) == 0 {
				err = errors.Join(err, fmt.Errorf("%s has no caBundle", caller))
			}
		}
		return err
	})
}

// testAnswers checks that every webhook is called and its answer is used.
func (s *scenario) testAnswers() {
	s.Helper()
	s.Must(s.Cluster.Apply(s.Context(), "{apiVersion: v1, kind: Namespace, metadata: {name: answers}}"))
	l := &load{namespace: "answers", objects: s.objects, requests: map[string]int{}}
	for _, turn := range [][2]string{{"v1alpha1", "v1beta1"}, {"v1beta1", "v1alpha1"}} {
		for _, step := range l.steps("answers", turn[0], turn[1]) {
			if err := step.request(s.Context()); err != nil {
				s.Errorf("%s: %v", step.kind, err)
			}
		}
	}
}

// testApplyAgain checks that a second apply changes nothing that was injected, issued or defaulted. Controllers write at the
// same time, so it retries: an apply that changes something does so every time.
func (s *scenario) testApplyAgain() {
	s.Helper()
	manifests, err := s.Cluster.Render(s.Context(), s.folder(harness.Default), s.service.port())
	s.Must(err)
	s.Eventually("an apply that changes nothing", func() error {
		before := s.versions(manifests)
		s.Must(s.Cluster.Apply(s.Context(), manifests))
		if diff := cmp.Diff(before, s.versions(manifests)); diff != "" {
			return fmt.Errorf("applied again (-before +after):\n%s", diff)
		}
		return nil
	})
	s.awaitCertificates()
}

// versions returns the generation and the resourceVersion of every object.
func (s *scenario) versions(manifests string) []string {
	s.Helper()
	const each = `{range .items[*]}{.kind} {.metadata.name}: {.metadata.generation} {.metadata.resourceVersion}{"\n"}{end}`
	out, _ := s.Kubectl(manifests, "get", "-f", "-", "-o", "jsonpath="+each)
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
		return errors.New("this Certificate has no duration here")
	}
	return errors.Join(
		unstructured.SetNestedField(object.Object, life.String(), "spec", "duration"),
		unstructured.SetNestedField(object.Object, (life-30*time.Second).String(), "spec", "renewBefore"),
	)
}
