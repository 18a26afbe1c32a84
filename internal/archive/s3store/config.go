// Package s3store keeps objects in a bucket of any S3 store, and issues tickets for it.
package s3store

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Config says which bucket, and as whom. The credentials must allow GetObject, PutObject,
// DeleteObject, AbortMultipartUpload and ListBucket. Without the last one, S3 answers 403 where
// there is no object, and a missing archive cannot be told from a refused one.
type Config struct {
	// Endpoint is the store's URL without the bucket, such as https://s3.eu-central-1.amazonaws.com.
	Endpoint string
	Region   string // us-east-1 if empty, which stores without regions take
	Bucket   string
	// Prefix is put before every name. It keeps clusters that share a bucket apart.
	Prefix string

	AccessKeyID, SecretAccessKey string
	SessionToken                 string // of temporary credentials; tickets end with them

	// VirtualHost puts the bucket into the host's name instead of the path.
	VirtualHost bool
	// Checksums sends CRC32 sums with requests. Stores from before 2024 may refuse them; what is
	// stored is read back and compared in any case.
	Checksums bool
	// CA holds PEM certificates to trust instead of the image's.
	CA []byte
}

var (
	// bucketName is S3's own rule, as far as URLs depend on it.
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	// prefixForm needs no escaping in a URL.
	prefixForm = regexp.MustCompile(`^([A-Za-z0-9_-][A-Za-z0-9._-]*/)*$`)
)

// complete fills in what may be left out, and says what is wrong with the rest.
func (c Config) complete() (Config, error) {
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	if c.Prefix != "" && !strings.HasSuffix(c.Prefix, "/") {
		c.Prefix += "/"
	}
	endpoint, err := url.Parse(c.Endpoint)
	switch {
	case strings.Contains(c.Endpoint, "@"): // a credential, which no message may repeat
		return c, fmt.Errorf("endpoint: must not have a user or a password; give accessKeyID and secretAccessKey")
	case err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" ||
		strings.Trim(endpoint.Path, "/") != "" || endpoint.RawQuery != "":
		return c, fmt.Errorf("endpoint: %q must be a URL of a host, such as https://s3.example.com", c.Endpoint)
	case !bucketName.MatchString(c.Bucket):
		return c, fmt.Errorf("bucket: %q must have 3 to 63 small letters, digits, dots and hyphens", c.Bucket)
	case !prefixForm.MatchString(c.Prefix):
		return c, fmt.Errorf("prefix: %q must be folders of letters, digits, dots, underscores and hyphens, such as team/cluster-1", c.Prefix)
	case c.AccessKeyID == "" || c.SecretAccessKey == "":
		return c, fmt.Errorf("accessKeyID and secretAccessKey must both be given")
	}
	c.Endpoint = strings.TrimSuffix(c.Endpoint, "/")
	return c, nil
}
