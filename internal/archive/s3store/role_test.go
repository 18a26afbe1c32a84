package s3store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/test/harness"
)

const role = "arn:aws:iam::123456789012:role/homes"

// exchange is a service that exchanges tokens for the real S3 server's key. No cloud is to be had in a test.
type exchange struct {
	url   string
	asked atomic.Int64
	// answers replaces the answer, if it is not nil.
	answers http.HandlerFunc
	// most is the longest session that it grants.
	most time.Duration
}

func exchanging(t *testing.T, store *harness.ObjectStore, now func() time.Time) *exchange {
	t.Helper()
	e := &exchange{most: longestSession}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.asked.Add(1)
		length, _ := time.ParseDuration(r.FormValue("DurationSeconds") + "s")
		switch {
		case e.answers != nil:
			e.answers(w, r)
		case r.Header.Get("Authorization") != "" || r.FormValue("Action") != "AssumeRoleWithWebIdentity" || r.FormValue("RoleArn") != role ||
			r.FormValue("WebIdentityToken") != "a token" || r.FormValue("RoleSessionName") != "kyklos":
			http.Error(w, "unexpected", http.StatusTeapot)
		default:
			fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>`+
				`<AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken></SessionToken><Expiration>%s</Expiration>`+
				`</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
				store.AccessKeyID, store.SecretAccessKey, now().Add(min(length, e.most)).UTC().Format(time.RFC3339))
		}
	}))
	t.Cleanup(server.Close)
	e.url = server.URL
	return e
}

func (e *exchange) config(store *harness.ObjectStore, now func() time.Time) Config {
	config := configOf(store)
	config.AccessKeyID, config.SecretAccessKey = "", ""
	config.Role = &Role{ARN: role, Endpoint: e.url, Now: now, Token: func(context.Context) (string, error) { return "a token", nil }}
	return config
}

// W94: a token takes the place of an access key, for the manager's calls and for tickets. A session is renewed when it ends, and is longer
// than a ticket.
func TestARoleInsteadOfAnAccessKey(t *testing.T) {
	running := server(t)
	now := time.Now()
	clock := func() time.Time { return now }
	service := exchanging(t, running, clock)
	store := open(t, service.config(running, clock))
	calls := func(want int64) {
		t.Helper()
		if got := service.asked.Load(); got != want {
			t.Errorf("%d exchanges, want %d", got, want)
		}
	}
	for range 3 {
		if err := store.HeadBucket(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	calls(1)
	mover := holder(t, issue(t, store, 1<<20)) // for an hour: the session has to last longer
	calls(2)
	if err := errors.Join(mover.PutStream(t.Context(), key.Data(), strings.NewReader("data")), mover.Put(t.Context(), key.Marker(), []byte("marker"))); err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(t.Context(), key.Marker()); err != nil {
		t.Error(err)
	}
	if ticket, err := store.Issue(t.Context(), archive.Order{Key: key, Now: now, Valid: time.Hour}); err != nil || !ticket.Expires.Equal(now.Add(time.Hour)) {
		t.Errorf("the ticket ends at %s, %v", ticket.Expires, err)
	}
	calls(2)
	now = now.Add(61 * time.Minute)
	if err := store.HeadBucket(t.Context()); err != nil {
		t.Error(err)
	}
	calls(3)
	service.most = 20 * time.Minute // the cloud may grant less than was asked for
	now = now.Add(time.Hour)
	if ticket, err := store.Issue(t.Context(), archive.Order{Key: key, Now: now, Valid: time.Hour}); err != nil || !ticket.Expires.Equal(now.Add(service.most).Truncate(time.Second)) {
		t.Errorf("the ticket ends at %s, %v", ticket.Expires, err)
	}
}

func TestARoleThatIsRefused(t *testing.T) {
	running := server(t)
	service := exchanging(t, running, time.Now)
	refusal := func(status int, code, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>r1</RequestId></ErrorResponse>`, code, message)
		}
	}
	for name, test := range map[string]struct {
		answers http.HandlerFunc
		token   error
		want    error
		says    string
	}{
		"by the cloud": {refusal(403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"), nil, archive.ErrDenied,
			"roleARN " + role + ": the store refuses access: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"},
		"too long":        {refusal(400, "ValidationError", "The requested DurationSeconds exceeds the MaxSessionDuration"), nil, archive.ErrUnreachable, "MaxSessionDuration"},
		"by the cluster":  {nil, errors.New("serviceAccount: not found"), archive.ErrDenied, "roleARN " + role + ": the store refuses access: serviceAccount: not found"},
		"another service": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html></html>") }, nil, archive.ErrUnreachable, "roleARN"},
		"no credentials": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`)
		}, nil, archive.ErrUnreachable, "the answer has no credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			service.answers = test.answers
			config := service.config(running, time.Now)
			if test.token != nil {
				config.Role.Token = func(context.Context) (string, error) { return "", test.token }
			}
			store := open(t, config)
			_, issued := store.Issue(t.Context(), archive.Order{Key: key, Now: time.Now(), Valid: time.Hour})
			for _, err := range []error{store.HeadBucket(t.Context()), store.Put(t.Context(), key.Marker(), nil), issued} {
				if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "a token") {
					t.Errorf("%v, want %v that says %q", err, test.want, test.says)
				}
			}
		})
	}
}

func TestInvalidRoles(t *testing.T) {
	good := Config{Endpoint: "https://s3.example.com", Bucket: "homes"}
	for name, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"and a key":        {func(c *Config) { c.AccessKeyID = "a" }, "roleARN: excludes accessKeyID, secretAccessKey and sessionToken; remove either"},
		"no ARN":           {func(c *Config) { c.Role.ARN = "homes" }, `roleARN: must be the ARN of a role, such as arn:aws:iam::123456789012:role/homes`},
		"no URL":           {func(c *Config) { c.Role.Endpoint = "sts" }, "stsEndpoint: must be a URL, such as https://sts.eu-central-1.amazonaws.com"},
		"a password":       {func(c *Config) { c.Role.Endpoint = "https://a:b@sts.example.com" }, "stsEndpoint: must be a URL, such as https://sts.eu-central-1.amazonaws.com"},
		"the metadata":     {func(c *Config) { c.Role.Endpoint = "http://169.254.169.254" }, "169.254.169.254, an address of the cloud's metadata"},
		"this machine":     {func(c *Config) { c.Role.Endpoint = "http://127.0.0.1:1" }, "127.0.0.1, an address of the manager's own machine"},
		"one that is fine": {func(*Config) {}, "<nil>"},
	} {
		config := good
		config.Role = &Role{ARN: role}
		test.change(&config)
		if _, err := New(config); !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	listed, err := endpoints.Parse([]string{"s3.example.com"}, false)
	if err != nil {
		t.Fatal(err)
	}
	good.Allowed, good.Role = listed, &Role{ARN: role}
	if _, err := New(good); !strings.Contains(fmt.Sprint(err), "stsEndpoint: ") {
		t.Errorf("an endpoint that is not listed: %v", err)
	}
}
