// Package encryption encrypts archives with age for the owners of the homes, so that neither the store nor who reads it can open them
// (W92). What is stored is a file of the age format, which the tool age opens.
package encryption

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filippo.io/age"
)

// maxKeys limits how many recipients and identities there may be.
const maxKeys = 16

// ErrNoIdentity means that an archive is encrypted and that no identity opens it. The archive itself may be good.
var ErrNoIdentity = errors.New("no identity opens the archive")

// ParseRecipients parses public keys, one a line. Empty lines and those that begin with # do not count.
func ParseRecipients(text string) ([]string, error) {
	var found []string
	for number, line := range lines(text) {
		recipient, err := age.ParseX25519Recipient(line)
		if err != nil && strings.HasPrefix(strings.ToUpper(line), "AGE-SECRET-KEY-") {
			return nil, fmt.Errorf("line %d is a secret key; it belongs into ageIdentity", number)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d must be a public key of age-keygen, which begins with age1", number)
		}
		if !slices.Contains(found, recipient.String()) {
			found = append(found, recipient.String())
		}
	}
	switch {
	case len(found) == 0:
		return nil, errors.New("must have a public key of age-keygen in a line, which begins with age1")
	case len(found) > maxKeys:
		return nil, fmt.Errorf("must have at most %d keys", maxKeys)
	}
	return found, nil
}

// lines yields what counts, by the numbers of the lines.
func lines(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		number := 0
		for line := range strings.Lines(text) {
			number++
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !yield(number, line) {
				return
			}
		}
	}
}

// Fingerprint identifies a recipient where its key would be too long: the beginning of its SHA-256 sum.
func Fingerprint(recipient string) string {
	sum := sha256.Sum256([]byte(recipient))
	return "age:" + hex.EncodeToString(sum[:8])
}

// Fingerprints are those of several recipients.
func Fingerprints(recipients []string) []string {
	found := make([]string, len(recipients))
	for i, recipient := range recipients {
		found[i] = Fingerprint(recipient)
	}
	return found
}

// Identities are secret keys. Nothing prints them.
type Identities struct{ keys []*age.X25519Identity }

// ParseIdentities parses secret keys, one a line. Empty lines and those that begin with # do not count, and there may be none. The error
// has nothing of them.
func ParseIdentities(text string) (Identities, error) {
	var found Identities
	for number, line := range lines(text) {
		key, err := age.ParseX25519Identity(line)
		if err != nil {
			return Identities{}, fmt.Errorf("line %d must be a secret key of age-keygen, which begins with AGE-SECRET-KEY-1", number)
		}
		if found.keys = append(found.keys, key); len(found.keys) > maxKeys {
			return Identities{}, fmt.Errorf("must have at most %d keys", maxKeys)
		}
	}
	return found, nil
}

// Fingerprints are those of the recipients that the identities belong to.
func (i Identities) Fingerprints() []string {
	found := make([]string, len(i.keys))
	for n, key := range i.keys {
		found[n] = Fingerprint(key.Recipient().String())
	}
	return found
}

// Fit returns ErrNoIdentity if none of the identities belongs to one of the recipients. It says which would.
func (i Identities) Fit(fingerprints []string) error {
	have := i.Fingerprints()
	if slices.ContainsFunc(have, func(each string) bool { return slices.Contains(fingerprints, each) }) {
		return nil
	}
	wanted, given := "an unknown recipient", "there is no identity"
	if len(fingerprints) > 0 {
		wanted = strings.Join(fingerprints[:min(len(fingerprints), maxKeys)], ", ")
	}
	if len(have) > 0 {
		given = "the identities are for " + strings.Join(have, ", ")
	}
	return fmt.Errorf("%w: it is for %s; %s", ErrNoIdentity, wanted, given)
}

// Format prints none of the keys, whatever the verb is.
func (i Identities) Format(state fmt.State, _ rune) {
	_, _ = fmt.Fprintf(state, "%d identities", len(i.keys))
}
