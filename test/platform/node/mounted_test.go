package node

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

const webhookHost = "kyklos-webhook.kyklos-system.svc"

// pair is a serving certificate with its key and the CA that signed it.
type pair struct{ chain, key, ca []byte }

func newPair(t *testing.T) pair {
	t.Helper()
	chain, key, err := cert.GenerateSelfSignedCertKey(webhookHost, nil, nil)
	harness.Must(t, err)
	certificates, err := cert.ParseCertsPEM(chain)
	harness.Must(t, err)
	ca, err := cert.EncodeCertificates(certificates[len(certificates)-1])
	harness.Must(t, err)
	return pair{chain, key, ca}
}

// installMounted installs config/default. The test does what cert-manager does: it updates the Secret and the CA
// bundles.
func installMounted(t *testing.T, first pair, trusted []byte) {
	t.Helper()
	var kept []string
	for document := range strings.SplitSeq(render(t, harness.Default), "\n---\n") {
		if !strings.Contains(document, "apiVersion: cert-manager.io/") {
			kept = append(kept, document)
		}
	}
	harness.Must(t, client.IgnoreAlreadyExists(admin.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "kyklos-webhook-tls", Namespace: harness.SystemNamespace},
		Type:       corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": first.chain, "tls.key": first.key},
	})))
	kubectl(t, strings.Join(kept, "\n---\n"), "apply", "--server-side", "--force-conflicts", "-f", "-")
	for object, path := range map[string]string{
		"validatingwebhookconfiguration/kyklos-webhook": "/webhooks/0/clientConfig/caBundle",
		"mutatingwebhookconfiguration/kyklos-webhook":   "/webhooks/0/clientConfig/caBundle",
		"crd/timewindowscalers.kyklos.io":               "/spec/conversion/webhook/clientConfig/caBundle",
	} {
		patch, err := json.Marshal([]map[string]any{{"op": "add", "path": path, "value": trusted}})
		harness.Must(t, err)
		kubectl(t, "", "patch", object, "--type=json", "-p", string(patch))
	}
	kubectl(t, "", "-n", harness.SystemNamespace, "rollout", "status", "deployment/kyklos-manager", "--timeout="+patience.String())
}

// The kubelet mounts the Secret into the pods. When it is renewed, both replicas serve the new certificate, with the
// same processes and without a failed request.
func TestMountedCertificateIsRenewed(t *testing.T) {
	installed(t)
	first, second := newPair(t), newPair(t)
	installMounted(t, first, append(append([]byte{}, first.ca...), second.ca...))
	pods, err := managers(t.Context())
	harness.Must(t, err)
	harness.Must(t, everyoneServes(t, pods, first))

	load := startLoad(t, newTarget(t))
	secret := corev1.Secret{}
	harness.Must(t, admin.Get(t.Context(), client.ObjectKey{Namespace: harness.SystemNamespace, Name: "kyklos-webhook-tls"}, &secret))
	secret.Data = map[string][]byte{"tls.crt": second.chain, "tls.key": second.key}
	harness.Must(t, admin.Update(t.Context(), &secret))
	began := time.Now()
	renewed := until(t.Context(), patience, func() error { return everyoneServes(t, pods, second) })
	load.end(t, fmt.Sprintf("until both replicas served the renewed certificate, %s after the Secret had it", time.Since(began).Round(time.Second)))
	harness.Must(t, renewed)
	after, err := managers(t.Context())
	harness.Must(t, err)
	if len(after) != 2 || after[0].Name != pods[0].Name || after[1].Name != pods[1].Name || after[0].Status.ContainerStatuses[0].RestartCount != 0 {
		t.Error("the replicas are not the same as before")
	}
}

// everyoneServes returns an error for a replica that does not serve the certificate.
func everyoneServes(t *testing.T, pods []corev1.Pod, want pair) error {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(want.ca)
	for i := range pods {
		dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: webhookHost}}
		connection, err := dialer.DialContext(t.Context(), "tcp", net.JoinHostPort(pods[i].Status.PodIP, "9443"))
		if err != nil {
			return fmt.Errorf("%s: %w", pods[i].Name, err)
		}
		_ = connection.Close()
	}
	return nil
}
