package s3store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"kyklos.io/kyklos/internal/archive"
)

// Role is a cloud's role that a token of a ServiceAccount is exchanged for, instead of an access key (W94).
type Role struct {
	ARN string
	// Endpoint is the URL of the service that exchanges tokens; empty is that of AWS in the store's region.
	Endpoint string
	// Token returns a token that is valid now.
	Token func(context.Context) (string, error)
	// Now is the wall clock's time.
	Now func() time.Time
}

const (
	// Bounds of a session: AWS's most, and what every role allows.
	longestSession, usualSession = 12 * time.Hour, time.Hour
	// spare is how long credentials must be valid for one call.
	spare = 5 * time.Minute
	// sessionName appears in the cloud's audit log.
	sessionName = "kyklos"
)

var roleARN = regexp.MustCompile(`^arn:[a-z0-9-]{1,32}:iam::[0-9]{0,12}:role/[A-Za-z0-9+=,.@_/-]{1,512}$`)

func (c Config) checkCredentials() error {
	switch {
	case c.Role == nil && (c.AccessKeyID == "" || c.SecretAccessKey == ""):
		return errors.New("accessKeyID and secretAccessKey are both required, or roleARN")
	case c.Role == nil:
		return nil
	case c.AccessKeyID != "" || c.SecretAccessKey != "" || c.SessionToken != "":
		return errors.New("roleARN: excludes accessKeyID, secretAccessKey and sessionToken; remove either")
	case !roleARN.MatchString(c.Role.ARN):
		return errors.New("roleARN: must be the ARN of a role, such as arn:aws:iam::123456789012:role/homes")
	}
	return nil
}

// session keeps the credentials of a role. It renews them one call at a time.
type session struct {
	role   Role
	client *sts.Client
	turn   chan struct{}
	have   aws.Credentials
}

func (c Config) session() (*session, error) {
	endpoint := c.Role.Endpoint
	if endpoint == "" {
		endpoint = "https://sts." + c.Region + ".amazonaws.com"
	}
	parsed, err := url.Parse(endpoint)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.User != nil || parsed.RawQuery != "" || len(endpoint) > 512 {
		return nil, errors.New("stsEndpoint: must be a URL, such as https://sts.eu-central-1.amazonaws.com")
	}
	client, err := c.httpClient(parsed, parsed)
	if err != nil {
		return nil, fmt.Errorf("stsEndpoint: %w", err)
	}
	return &session{role: *c.Role, turn: make(chan struct{}, 1), client: sts.New(sts.Options{
		Region: c.Region, BaseEndpoint: &endpoint, HTTPClient: client, Credentials: aws.AnonymousCredentials{},
	})}, nil
}

// Retrieve implements aws.CredentialsProvider.
func (s *session) Retrieve(ctx context.Context) (aws.Credentials, error) {
	return s.lasting(ctx, spare)
}

// lasting returns credentials that are valid for a time, if a session can be that long.
func (s *session) lasting(ctx context.Context, needed time.Duration) (aws.Credentials, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return aws.Credentials{}, ctx.Err()
	}
	needed = min(needed, longestSession-spare)
	if s.have.Expires.Sub(s.role.Now()) >= needed {
		return s.have, nil
	}
	fresh, err := s.exchange(ctx, max(usualSession, needed+spare))
	if err == nil {
		s.have = fresh
	}
	return fresh, err
}

func (s *session) exchange(ctx context.Context, length time.Duration) (aws.Credentials, error) {
	token, err := s.role.Token(ctx)
	if err != nil {
		return aws.Credentials{}, &roleError{s.role.ARN, archive.ErrDenied, err}
	}
	answer, err := s.client.AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &s.role.ARN, RoleSessionName: aws.String(sessionName), WebIdentityToken: &token,
		DurationSeconds: aws.Int32(int32(length / time.Second)),
	})
	if err != nil {
		return aws.Credentials{}, &roleError{s.role.ARN, kindOf(err), shortError{err}}
	}
	found := answer.Credentials
	if found == nil || found.Expiration == nil {
		return aws.Credentials{}, &roleError{s.role.ARN, archive.ErrUnreachable, errors.New("the answer has no credentials")}
	}
	config := Config{AccessKeyID: aws.ToString(found.AccessKeyId), SecretAccessKey: aws.ToString(found.SecretAccessKey), SessionToken: aws.ToString(found.SessionToken)}
	if err := errors.Join(config.checkCredentials(), config.bounded()); err != nil {
		return aws.Credentials{}, &roleError{s.role.ARN, archive.ErrUnreachable, errors.New("the answer has no usable credentials")}
	}
	return aws.Credentials{
		AccessKeyID: config.AccessKeyID, SecretAccessKey: config.SecretAccessKey, SessionToken: config.SessionToken,
		Source: sessionName, CanExpire: true, Expires: *found.Expiration,
	}, nil
}

// roleError says why there are no credentials. Its kind is one of archive's errors.
type roleError struct {
	arn         string
	kind, cause error
}

// Error names the role.
func (e *roleError) Error() string {
	return fmt.Sprintf("roleARN %s: %v: %s", e.arn, e.kind, printable(e.cause.Error()))
}

// Unwrap is the kind and the cause.
func (e *roleError) Unwrap() []error { return []error{e.kind, e.cause} }

// provider is where the SDK finds the credentials.
func (s *Store) provider() aws.CredentialsProvider {
	if s.session != nil {
		return s.session
	}
	return credentials.NewStaticCredentialsProvider(s.config.AccessKeyID, s.config.SecretAccessKey, s.config.SessionToken)
}

// signing returns the credentials for a ticket, and when they end; the zero time for never.
func (s *Store) signing(ctx context.Context, valid time.Duration) (aws.Credentials, error) {
	if s.session == nil {
		return s.provider().Retrieve(ctx)
	}
	return s.session.lasting(ctx, valid)
}
