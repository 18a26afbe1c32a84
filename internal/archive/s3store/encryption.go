package s3store

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"kyklos.io/kyklos/internal/archive"
)

// What Config.ServerSideEncryption can be.
const (
	// SSES3 encrypts with keys of the store.
	SSES3 = "AES256"
	// SSEKMS encrypts with keys of the store's key management.
	SSEKMS = "aws:kms"
)

// Headers of a request that creates an object.
const (
	headerSSE   = "X-Amz-Server-Side-Encryption"
	headerKeyID = "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"
)

// kmsKey is an ID, an alias or an ARN. It is sent in a header.
var kmsKey = regexp.MustCompile(`^[A-Za-z0-9:/_-]{1,512}$`)

func (c Config) checkEncryption() error {
	switch {
	case c.ServerSideEncryption != "" && c.ServerSideEncryption != SSES3 && c.ServerSideEncryption != SSEKMS:
		return fmt.Errorf("serverSideEncryption: must be %s or %s", SSES3, SSEKMS)
	case c.KMSKeyID != "" && c.ServerSideEncryption != SSEKMS:
		return fmt.Errorf("kmsKeyID: requires serverSideEncryption: %s", SSEKMS)
	case c.KMSKeyID != "" && !kmsKey.MatchString(c.KMSKeyID):
		return errors.New("kmsKeyID: must be the ID, the alias or the ARN of a key, such as alias/homes")
	}
	return nil
}

// encryption is what a request of the SDK says.
func (c Config) encryption() (algorithm types.ServerSideEncryption, keyID *string) {
	if c.KMSKeyID != "" {
		keyID = aws.String(c.KMSKeyID)
	}
	return types.ServerSideEncryption(c.ServerSideEncryption), keyID
}

// encryptionHeaders is what a request says that a ticket is for; nil for nothing.
func (c Config) encryptionHeaders() map[string]string {
	if c.ServerSideEncryption == "" {
		return nil
	}
	headers := map[string]string{headerSSE: c.ServerSideEncryption}
	if c.KMSKeyID != "" {
		headers[headerKeyID] = c.KMSKeyID
	}
	return headers
}

// encrypts reports an error unless the store confirmed the encryption of an upload. Some stores ignore what they do not know, and would
// keep a home in plain text (W91).
func (c Config) encrypts(confirmed types.ServerSideEncryption) error {
	if string(confirmed) == c.ServerSideEncryption || c.ServerSideEncryption == "" {
		return nil
	}
	said := "nothing about encryption"
	if confirmed != "" {
		said = fmt.Sprintf("%.20q", string(confirmed))
	}
	return fmt.Errorf("serverSideEncryption: %w: asked for %s, it answered %s; remove the key, or use ageRecipients",
		archive.ErrNotEncrypted, c.ServerSideEncryption, said)
}
