package store

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// audience is whom the tokens are for. It is fixed: a token for the API server would be a permission in the cluster.
	audience = "sts.amazonaws.com"
	// tokenSeconds is how long they are valid: the API server's least.
	tokenSeconds = 600
)

// Tokens returns what requests tokens of ServiceAccounts, for connect.Options. The manager may do that only where a Role in the
// ServiceAccount's own namespace says so: see docs/adr (W94).
func Tokens(api client.Client) func(ctx context.Context, namespace, serviceAccount string) (string, error) {
	return func(ctx context.Context, namespace, serviceAccount string) (string, error) {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: serviceAccount}}
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			Audiences: []string{audience}, ExpirationSeconds: ptr.To(int64(tokenSeconds)),
		}}
		err := api.SubResource("token").Create(ctx, account, request)
		if apierrors.IsForbidden(err) {
			return "", fmt.Errorf("serviceAccount: no permission to request a token of %s; a Role in namespace %s has to allow to create serviceaccounts/token of that name: %w",
				serviceAccount, namespace, err)
		}
		if err != nil {
			return "", fmt.Errorf("serviceAccount: request a token of %s: %w", serviceAccount, err)
		}
		return request.Status.Token, nil
	}
}
