// Package connect makes a store of what a Secret says: the one that a Workspace's
// spec.archive.storeRef names.
package connect

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/internal/archive/s3store"
)

// The keys of a store's Secret.
const (
	Folder          = "folder" // a file store; all others are S3's
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
)

var known = []string{Folder, Endpoint, Region, Bucket, Prefix, AccessKeyID, SecretAccessKey, SessionToken, VirtualHost, Checksums, CA}

// Options say what is allowed.
type Options struct {
	// Folders allows file stores. A Secret's folder is one of the operator's own file system, so only where every user may see
	// all of it.
	Folders bool
}

// Open makes the store. Errors name the key of the Secret, and never a value of a credential.
func Open(secret map[string][]byte, options Options) (archive.Issuer, error) {
	for _, key := range slices.Sorted(maps.Keys(secret)) {
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("%s: there is no such key; known are %s", key, strings.Join(known, ", "))
		}
	}
	text := func(key string) string { return strings.TrimSpace(string(secret[key])) }
	if folder := text(Folder); folder != "" {
		return openFolder(folder, len(secret), options)
	}
	config := s3store.Config{
		Endpoint: text(Endpoint), Region: text(Region), Bucket: text(Bucket), Prefix: text(Prefix),
		AccessKeyID: text(AccessKeyID), SecretAccessKey: text(SecretAccessKey), SessionToken: text(SessionToken), CA: secret[CA],
	}
	var err error
	if config.VirtualHost, err = truth(VirtualHost, text(VirtualHost)); err != nil {
		return nil, err
	}
	if config.Checksums, err = truth(Checksums, text(Checksums)); err != nil {
		return nil, err
	}
	store, err := s3store.New(config)
	if err != nil { // not store itself: a nil *Store is no nil Issuer
		return nil, err
	}
	return store, nil
}

// Address says which store a Secret leads to, without its credentials; "" if it does not say. Two Secrets lead to
// the same store if it is the same.
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

func openFolder(folder string, keys int, options Options) (archive.Issuer, error) {
	switch {
	case !options.Folders:
		return nil, fmt.Errorf("%s: file stores are not allowed here; name an S3 store by %s and %s", Folder, Endpoint, Bucket)
	case keys > 1:
		return nil, fmt.Errorf("%s: a file store has no other key", Folder)
	case !filepath.IsAbs(folder):
		return nil, fmt.Errorf("%s: %q must be an absolute path", Folder, folder)
	}
	return filestore.New(folder), nil
}

func truth(key, text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%s: %q must be true or false", key, text)
	}
	return value, nil
}
