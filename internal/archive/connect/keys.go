package connect

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"kyklos.io/kyklos/internal/archive/encryption"
	"kyklos.io/kyklos/internal/archive/s3store"
)

// Recipients returns for whom movers encrypt what they store; none for plain data. Somebody has to be able to read it back, and it is
// the mover: without an identity nothing is encrypted (W93). The identity is not read here.
func Recipients(secret map[string][]byte) ([]string, error) {
	text := string(secret[AgeRecipients])
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	recipients, err := encryption.ParseRecipients(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", AgeRecipients, err)
	}
	if len(secret[AgeIdentity]) == 0 {
		return nil, fmt.Errorf("%s: is missing: an archive is read back before its volume is deleted, so %s needs the identity of one of the recipients",
			AgeIdentity, AgeRecipients)
	}
	return recipients, nil
}

// roleOf returns the role that the Secret names; nil for none.
func roleOf(text func(string) string, options Options) (*s3store.Role, error) {
	account := text(ServiceAccount)
	if text(RoleARN) == "" {
		for _, key := range []string{ServiceAccount, STSEndpoint} {
			if text(key) != "" {
				return nil, fmt.Errorf("%s: requires %s", key, RoleARN)
			}
		}
		return nil, nil
	}
	switch {
	case options.Tokens == nil:
		return nil, fmt.Errorf("%s: only the manager uses it; use %s and %s here", RoleARN, AccessKeyID, SecretAccessKey)
	case account == "":
		return nil, fmt.Errorf("%s: requires %s, the name of a ServiceAccount in the Secret's namespace", RoleARN, ServiceAccount)
	case len(validation.IsDNS1123Subdomain(account)) > 0:
		return nil, fmt.Errorf("%s: must be the name of a ServiceAccount in the Secret's namespace", ServiceAccount)
	}
	return &s3store.Role{
		ARN: text(RoleARN), Endpoint: text(STSEndpoint), Now: options.Now,
		Token: func(ctx context.Context) (string, error) { return options.Tokens(ctx, options.Namespace, account) },
	}, nil
}
