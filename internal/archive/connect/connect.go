// Package connect opens the store that a Secret describes: the one that a Workspace's spec.archive.storeRef refers to.
package connect

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/internal/archive/s3store"
)

// The keys of a store's Secret.
const (
	Folder          = "folder" // for a file store; all others are for S3
	Endpoint        = "endpoint"
	Region          = "region"
	Bucket          = "bucket"
	Prefix          = "prefix"
	AccessKeyID     = "accessKeyID"
	SecretAccessKey = "secretAccessKey"
	SessionToken    = "sessionToken"
	VirtualHost     = "virtualHost"
	Checksums       = "checksums"
	CA              = "ca.crt"

	ServerSideEncryption = "serverSideEncryption"
	KMSKeyID             = "kmsKeyID"
	// AgeRecipients and AgeIdentity are for encryption by the mover. Only movers read the second one.
	AgeRecipients = "ageRecipients"
	AgeIdentity   = "ageIdentity"

	RoleARN        = "roleARN"
	ServiceAccount = "serviceAccount"
	STSEndpoint    = "stsEndpoint"
)

var known = []string{
	Folder, Endpoint, Region, Bucket, Prefix, AccessKeyID, SecretAccessKey, SessionToken, VirtualHost, Checksums, CA,
	ServerSideEncryption, KMSKeyID, AgeRecipients, AgeIdentity, RoleARN, ServiceAccount, STSEndpoint,
}

// withFolder are the keys that a file store may have, too.
var withFolder = []string{Folder, AgeRecipients, AgeIdentity}

// Options say what is allowed.
type Options struct {
	// Folders allows file stores. A Secret can name any folder of the operator's file system, so this is only for
	// clusters whose users may see all of it.
	Folders bool
	// Endpoints are the S3 stores that may be called.
	Endpoints endpoints.Policy
	// Tokens returns a token of a ServiceAccount for the cloud's STS; nil if there are none here. Namespace is the Secret's, and
	// Now the wall clock's time.
	Tokens    func(ctx context.Context, namespace, serviceAccount string) (string, error)
	Namespace string
	Now       func() time.Time
}

// Open opens the store. Errors name the key of the Secret and never contain a credential.
func Open(secret map[string][]byte, options Options) (archive.Issuer, error) {
	for _, key := range slices.Sorted(maps.Keys(secret)) {
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("%s: unknown key; known keys are %s", key, strings.Join(known, ", "))
		}
	}
	text := func(key string) string { return strings.TrimSpace(string(secret[key])) }
	if folder := text(Folder); folder != "" {
		return openFolder(folder, secret, options)
	}
	config := s3store.Config{
		Endpoint: text(Endpoint), Region: text(Region), Bucket: text(Bucket), Prefix: text(Prefix),
		AccessKeyID: text(AccessKeyID), SecretAccessKey: text(SecretAccessKey), SessionToken: text(SessionToken), CA: secret[CA],
		ServerSideEncryption: text(ServerSideEncryption), KMSKeyID: text(KMSKeyID),
		Allowed: options.Endpoints,
	}
	var err error
	if config.Role, err = roleOf(text, options); err != nil {
		return nil, err
	}
	if config.VirtualHost, err = parseBool(VirtualHost, text(VirtualHost)); err != nil {
		return nil, err
	}
	if config.Checksums, err = parseBool(Checksums, text(Checksums)); err != nil {
		return nil, err
	}
	store, err := s3store.New(config)
	if err != nil { // a nil *Store is not a nil Issuer
		return nil, err
	}
	return store, nil
}

// Address identifies a Secret's store without its credentials; "" if the Secret is incomplete. Two Secrets with the same
// address give access to the same store.
func Address(secret map[string][]byte) string {
	text := func(key string) string { return strings.Trim(strings.TrimSpace(string(secret[key])), "/") }
	if folder := strings.TrimSpace(string(secret[Folder])); folder != "" {
		return "file://" + strings.TrimSuffix(folder, "/") + "/"
	}
	if text(Endpoint) == "" || text(Bucket) == "" || strings.Contains(text(Endpoint), "@") {
		return ""
	}
	address := text(Endpoint) + "/" + text(Bucket) + "/"
	if prefix := text(Prefix); prefix != "" {
		address += prefix + "/"
	}
	return address
}

func openFolder(folder string, secret map[string][]byte, options Options) (archive.Issuer, error) {
	switch {
	case !options.Folders:
		return nil, fmt.Errorf("%s: file stores are not allowed here; name an S3 store with %s and %s", Folder, Endpoint, Bucket)
	case slices.ContainsFunc(slices.Collect(maps.Keys(secret)), func(key string) bool { return !slices.Contains(withFolder, key) }):
		return nil, fmt.Errorf("%s: a file store allows no other key, but %s and %s", Folder, AgeRecipients, AgeIdentity)
	case !filepath.IsAbs(folder):
		return nil, fmt.Errorf("%s: must be an absolute path", Folder)
	}
	return filestore.New(folder), nil
}

func parseBool(key, text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%s: must be true or false", key)
	}
	return value, nil
}
