package admission

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

const (
	scalers    = "/validate-kyklos-io-v1beta1-timewindowscaler"
	workspaces = "/validate-kyklos-io-v1alpha1-workspace"
)

// spec is a schedule whose holidays are the keys of a ConfigMap that every namespace has.
const spec = `{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"timezone":"UTC","defaultReplicas":0,"gracePeriodSeconds":0,"pause":false,` +
	`"holidays":{"mode":"treat-as-closed","sourceRef":{"name":"kube-root-ca.crt"}},"windows":[{"days":["Mon"],"start":"09:00","end":"17:00","replicas":1}]}`

// invented is an AdmissionReview that no API server sent. user is a UserInfo as JSON.
func invented(kind, version, requestNamespace, objectNamespace, spec, user string) string {
	return fmt.Sprintf(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","namespace":%[3]q,"userInfo":%[6]s,
"kind":{"group":"kyklos.io","version":%[2]q,"kind":%[1]q},"resource":{"group":"kyklos.io","version":%[2]q,"resource":"x"},
"object":{"apiVersion":"kyklos.io/%[2]s","kind":%[1]q,"metadata":{"name":"a","namespace":%[4]q},"spec":%[5]s}}}`,
		kind, version, requestNamespace, objectNamespace, spec, user)
}

// post sends a body to a manager's webhook, as anybody on the network of Pods can.
func post(t *testing.T, port int, path, body string, certificates ...tls.Certificate) (status int, answer string) {
	t.Helper()
	requests := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: certificates}}}
	defer requests.CloseIdleConnections()
	response, err := requests.Post(fmt.Sprintf("https://127.0.0.1:%d%s", port, path), "application/json", strings.NewReader(body))
	harness.Must(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	harness.Must(t, err)
	return response.StatusCode, string(text)
}

// With a CA for clients, nobody but the API server gets an answer, and the API server gets all.
func TestOnlyTheAPIServerIsAnswered(t *testing.T) {
	s := newScenario(t)
	review := invented("TimeWindowScaler", "v1beta1", "kube-system", "kube-system", spec, `{"username":"admin","groups":["system:masters"]}`)
	pair := func(a *authority, name string) tls.Certificate {
		cert, key, err := a.client(name)
		s.Must(err)
		loaded, err := tls.X509KeyPair(cert, key)
		s.Must(err)
		return loaded
	}
	for name, certificates := range map[string][]tls.Certificate{
		"no certificate": nil, "of another CA": {pair(others, apiServerName)}, "of another name": {pair(pki, "stranger")},
	} {
		for _, path := range []string{scalers, workspaces, "/mutate-kyklos-io-v1beta1-timewindowscaler", "/mutate-kyklos-io-v1alpha1-workspace"} {
			if status, answer := post(t, guarded, path, review, certificates...); status != http.StatusUnauthorized || strings.Contains(answer, "uid") {
				t.Errorf("%s, %s: %d %s", name, path, status, answer)
			}
		}
	}
	if status, answer := post(t, guarded, scalers, review, pair(pki, apiServerName)); status != http.StatusOK || !strings.Contains(answer, "ca.crt") {
		t.Errorf("with a certificate: %d %s", status, answer)
	}
	unknown := newScaler(s.namespace, "a", "example.com/v1", "Widget")
	if err := s.Client.Create(s.Context(), unknown); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "example.com/v1 has no Widget") {
		t.Errorf("through the API server: %v", err)
	}
	filled := newScaler(s.namespace, "b", "apps/v1", "Deployment")
	s.Must(s.Client.Create(s.Context(), filled))
	if filled.Spec.TargetRef.Namespace != s.namespace {
		t.Errorf("defaults through the API server: %+v", filled.Spec.TargetRef)
	}
	s.Kubectl("", "get", "timewindowscalers.v1alpha1.kyklos.io", "-n", s.namespace) // conversion needs no certificate
}

// An invented review tells nobody a fact about an object, and a user only what the user may read.
func TestAnInventedReviewTellsNothing(t *testing.T) {
	s := newScenario(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "store-" + s.namespace}}
	s.Must(s.Client.Create(s.Context(), secret))
	home := func(store string) string {
		return `{"image":"a","desiredState":"RUNNING","archive":{"storeRef":{"name":"` + store + `"},"retain":1}}`
	}
	for name, user := range map[string]string{
		"nobody": `{}`, "anonymous": `{"username":"system:anonymous","groups":["system:unauthenticated"]}`,
		"a user without rights": `{"username":"eve","groups":["system:authenticated"]}`, "a group alone": `{"groups":["system:masters"]}`,
	} {
		_, answer := post(t, open, scalers, invented("TimeWindowScaler", "v1beta1", "kube-system", "kube-system", spec, user))
		for _, fact := range []string{"ca.crt:", "keys", "ConfigMap", "does not exist", "Autoscaler"} {
			if strings.Contains(answer, fact) {
				t.Errorf("%s is told %q: %s", name, fact, answer)
			}
		}
		_, there := post(t, open, workspaces, invented("Workspace", "v1alpha1", "kube-system", "kube-system", home(secret.Name), user))
		_, gone := post(t, open, workspaces, invented("Workspace", "v1alpha1", "kube-system", "kube-system", home("no-such"), user))
		if !allowed(t, there) || there != gone {
			t.Errorf("%s is told whether a Secret exists: %s, %s", name, there, gone)
		}
	}
	const admin = `{"username":"admin","groups":["system:masters"]}`
	if _, answer := post(t, open, scalers, invented("TimeWindowScaler", "v1beta1", "kube-system", "kube-system", spec, admin)); !strings.Contains(answer, "ca.crt") {
		t.Errorf("an admin is told nothing: %s", answer)
	}
	if _, answer := post(t, open, scalers, invented("TimeWindowScaler", "v1beta1", "default", "kube-system", spec, admin)); allowed(t, answer) || strings.Contains(answer, "ca.crt") {
		t.Errorf("the namespaces of request and object differ: %s", answer)
	}
}

func allowed(t *testing.T, answer string) bool {
	t.Helper()
	var review struct{ Response struct{ Allowed bool } }
	harness.Must(t, json.NewDecoder(bytes.NewReader([]byte(answer))).Decode(&review))
	return review.Response.Allowed
}

// A user who may write schedules and nothing else does not learn from them what the user may not read.
func TestAUserIsToldWhatTheUserMayRead(t *testing.T) {
	s := newScenario(t)
	s.Must(s.Client.Create(s.Context(), newScaler(s.namespace, "hidden-owner", "apps/v1", "Deployment")))
	s.grant("carl", "create", "timewindowscalers.kyklos.io")
	s.grant("carl", "patch", "deployments.apps/scale")
	create := func() string {
		err := s.as("carl").Create(s.Context(), newScaler(s.namespace, "second", "apps/v1", "Deployment"), client.DryRunAll)
		if !apierrors.IsInvalid(err) {
			t.Fatalf("got %v", err)
		}
		return err.Error()
	}
	if said := create(); strings.Contains(said, "hidden-owner") || !strings.Contains(said, "another TimeWindowScaler, which you may not see, already scales") {
		t.Error(said)
	}
	s.grant("carl", "list", "timewindowscalers.kyklos.io")
	s.Until("the name of the other one", func() bool { return strings.Contains(create(), `"hidden-owner" already scales`) })
}

func newScaler(namespace, name, apiVersion, kind string) *v1beta1.TimeWindowScaler {
	return &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{APIVersion: apiVersion, Kind: kind, Name: "web"}, Timezone: "UTC",
		Windows: []v1beta1.Window{{Days: []v1beta1.Weekday{"Mon"}, Start: "09:00", End: "17:00"}},
	}}
}
