package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
)

// restingError is the error while a store is not called, because it did not answer.
type restingError struct {
	failures int
	until    time.Time
	last     error
}

// Error says when the store is asked again.
func (r *restingError) Error() string {
	return fmt.Sprintf("%v: it did not answer %d times in a row; it is asked again at %s", archive.ErrUnreachable, r.failures, r.until.UTC().Format(time.RFC3339))
}

// Unwrap is ErrUnreachable: what happened before says nothing about this call.
func (r *restingError) Unwrap() error { return archive.ErrUnreachable }

// Cause is why a store did not answer, for a condition that stays for as long as that is so: also while it is not called.
func Cause(err error) string {
	if resting, ok := errors.AsType[*restingError](err); ok && resting.last != nil {
		return resting.last.Error()
	}
	return err.Error()
}

// leastSecret is how long a credential is that is looked for in texts: a shorter one would be found in words.
const leastSecret = 8

// secretsOf are the values of a Secret that no message may have.
func secretsOf(secret map[string][]byte) []string {
	var values []string
	for _, key := range []string{connect.AccessKeyID, connect.SecretAccessKey, connect.SessionToken} {
		if value := strings.TrimSpace(string(secret[key])); len(value) >= leastSecret {
			values = append(values, value)
		}
	}
	return values
}

// concealedError is an error whose text had a value of the Secret: a store may answer with what it was sent.
type concealedError struct {
	error
	text string
}

// Error is the text without the values.
func (c *concealedError) Error() string { return c.text }

// Unwrap is the error itself.
func (c *concealedError) Unwrap() error { return c.error }

// conceal takes the values of the Secret out of the text of an error.
func (o opened) conceal(err error) error {
	if err == nil {
		return nil
	}
	was := err.Error()
	text := was
	for _, value := range o.secrets {
		text = strings.ReplaceAll(text, value, "(a value of the Secret)")
	}
	if text == was {
		return err
	}
	return &concealedError{err, text}
}
