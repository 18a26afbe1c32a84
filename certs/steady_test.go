package certs_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/certs"
)

// testSteadyState counts the requests of a replica while it renews its leaf.
func testSteadyState(t *testing.T, c client.Client, kyklos *rest.Config, auditLog string) {
	options := certs.Options{
		Namespace: namespace, SecretName: "steady", CADuration: time.Hour, LeafDuration: 6 * time.Second,
		Callers: certs.Callers{ValidatingWebhookConfigurations: []string{"steady"}},
	}
	r := startReplica(t, kyklos, options)
	apply(t, c, validating("steady", nil, r, r))
	ready(t, r)
	turned(t, r)
	before := requests(t, auditLog, "steady")
	if len(before) == 0 {
		t.Fatal("not even the publishing was recorded: the count proves nothing")
	}
	turned(t, r)
	turned(t, r)
	if after := requests(t, auditLog, "steady"); len(after) != len(before) {
		t.Errorf("%d requests in the steady state:\n%s", len(after)-len(before), strings.Join(after[len(before):], "\n"))
	}
	testEntryRemoval(t, c, r)

	options.ValidatingWebhookConfigurations = []string{"forbidden"} // not in the role
	notReady(t, startReplica(t, kyklos, options),
		`ValidatingWebhookConfiguration "forbidden" has not been read yet (may Kyklos list and watch it?)`)
}

// testAhead: a CA that was made while a clock was a day ahead is refused by API servers whose clocks are right, and
// would be for a day.
func testAhead(t *testing.T, c client.Client, kyklos *rest.Config) {
	future := certs.NewAuthority(t, time.Now().Add(24*time.Hour), time.Now().Add(72*time.Hour))
	create(t, c, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ahead"}, Data: future.Own(t)})
	r := startReplica(t, kyklos, certs.Options{
		Namespace: namespace, SecretName: "ahead", CADuration: time.Hour, LeafDuration: 6 * time.Second,
		Callers: certs.Callers{ValidatingWebhookConfigurations: []string{"ahead"}},
	})
	create(t, c, validating("ahead", nil, r))
	ready(t, r)
}

// testEntryRemoval: publishing must not keep a GitOps tool from applying the
// configuration with one webhook less.
func testEntryRemoval(t *testing.T, c client.Client, r replica) {
	apply(t, c, validating("steady", nil, r))
	all, err := bundles(t.Context(), c, "steady")
	if err != nil || len(all) != 1 || len(all[0]) == 0 {
		t.Errorf("error %v, %d webhooks, want one and its caBundle left alone", err, len(all))
	}
	ready(t, r)
}

// apply is what a GitOps tool does with a manifest.
func apply(t *testing.T, c client.Client, config *admissionv1.ValidatingWebhookConfiguration) {
	t.Helper()
	config.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"))
	manifest, err := runtime.DefaultUnstructuredConverter.ToUnstructured(config)
	if err != nil {
		t.Fatal(err)
	}
	applied := client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: manifest})
	if err := c.Apply(t.Context(), applied, client.FieldOwner("gitops")); err != nil {
		t.Fatal(err)
	}
}

// requests lists what the user has asked the API server for, watches aside:
// those are open all the time.
func requests(t *testing.T, auditLog, user string) (list []string) {
	t.Helper()
	file, err := os.Open(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return list // What is left is being written.
		}
		if err != nil {
			t.Fatal(err)
		}
		var event struct {
			Verb, RequestURI string
			ImpersonatedUser struct{ Username string }
		}
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		if event.ImpersonatedUser.Username == user && event.Verb != "watch" {
			list = append(list, fmt.Sprintf("%s %s", event.Verb, event.RequestURI))
		}
	}
}
