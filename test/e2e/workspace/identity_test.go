package workspace

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	workspacestore "kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

const homesRole = "arn:aws:iam::123456789012:role/homes"

// allowed is what a tenant applies beside the Secret: whom the cloud knows, and that the manager may ask for its tokens.
const allowed = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: homes}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: kyklos-homes}
rules:
- {apiGroups: [""], resources: [serviceaccounts/token], resourceNames: [homes], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: kyklos-homes}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: kyklos-homes}
subjects:
- {kind: ServiceAccount, name: kyklos-manager, namespace: kyklos-system}
`

// W94: without any access key, a home is archived and restored by the tenant's own ServiceAccount. The manager has no permission of its
// own for that: it is the tenant's Role that allows it. The service that exchanges tokens is a local one, since no cloud is to be had. It
// asks the real API server whose the token is, as a cloud does with the cluster's keys.
func TestCloudIdentity(t *testing.T) {
	s := newScenario(t)
	s.Kubectl(allowed, "apply", "-n", s.Namespace, "-f", "-")
	exchanged, url := s.exchange("system:serviceaccount:" + s.Namespace + ":homes")
	var secret corev1.Secret
	s.Get(s.Namespace, "store", &secret)
	delete(secret.Data, "accessKeyID")
	delete(secret.Data, "secretAccessKey")
	secret.StringData = map[string]string{"roleARN": homesRole, "serviceAccount": "homes", "stsEndpoint": url}
	s.Must(s.Client.Update(s.Context(), &secret))
	s.Start(nil)
	s.Create("/bin/sleep", "100000")
	s.AwaitSettled(fixtures.Running)
	s.archiveAndRestore("in the cloud")
	if exchanged.Load() == 0 {
		t.Error("no token was exchanged")
	}
}

// exchange is a service that exchanges the tokens of a user, made for the cloud, for the store's key.
func (s *scenario) exchange(user string) (exchanged *atomic.Int64, url string) {
	s.Helper()
	exchanged = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: r.FormValue("WebIdentityToken"), Audiences: []string{"sts.amazonaws.com"}}}
		err := s.Client.Create(r.Context(), review)
		if err != nil || !review.Status.Authenticated || review.Status.User.Username != user || r.FormValue("RoleArn") != homesRole {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>%v %v</Message></Error></ErrorResponse>`, err, review.Status)
			return
		}
		exchanged.Add(1)
		fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>%s</AccessKeyId>`+
			`<SecretAccessKey>%s</SecretAccessKey><Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
			s.Store.AccessKeyID, s.Store.SecretAccessKey, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}))
	s.Cleanup(server.Close)
	return exchanged, server.URL
}

// Whoever is not allowed to gets no token, with the Role that is missing; nor is one of an account that does not exist. A token is for the
// cloud, not for the API server.
func TestTokensNeedARole(t *testing.T) {
	s := newScenario(t)
	token := func(user, account string) (string, error) {
		config := rest.CopyConfig(s.Cluster.Config)
		config.Impersonate.UserName = user
		api, err := client.New(config, client.Options{})
		s.Must(err)
		return workspacestore.Tokens(api)(s.Context(), s.Namespace, account)
	}
	s.Kubectl(strings.ReplaceAll(allowed, "name: kyklos-manager", "name: another"), "apply", "-n", s.Namespace, "-f", "-")
	if _, err := token("system:serviceaccount:kyklos-system:stranger", "homes"); err == nil ||
		!strings.Contains(err.Error(), "serviceAccount: no permission to request a token of homes; a Role in namespace "+s.Namespace+" has to allow") {
		t.Error(err)
	}
	if _, err := token("system:serviceaccount:kyklos-system:another", "default"); err == nil || !strings.Contains(err.Error(), "no permission to request a token of default") {
		t.Error(err)
	}
	if _, err := token("", "missing"); err == nil || !strings.Contains(err.Error(), `serviceAccount: request a token of missing: serviceaccounts "missing" not found`) {
		t.Error(err)
	}
	got, err := token("system:serviceaccount:kyklos-system:another", "homes")
	s.Must(err)
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: got}}
	s.Must(s.Client.Create(s.Context(), review))
	if review.Status.Authenticated {
		t.Error("the API server accepts the token itself")
	}
	if asked, err := s.Cluster.Forbidden(harness.ManagerUser); err != nil || len(asked) > 0 {
		t.Errorf("%v, %v", asked, err)
	}
}
