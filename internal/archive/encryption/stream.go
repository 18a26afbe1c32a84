package encryption

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"filippo.io/age"
)

const (
	// intro begins every file of the format.
	intro = "age-encryption.org/v1\n"
	// noteType is the type of the stanza with the fingerprints of the recipients. An archive of several runs has to say itself for whom it
	// is: age's own stanzas do not. It is authenticated with the rest of the header, and other programs ignore it, as the format demands.
	noteType = "kyklos-recipients"
)

// Write encrypts what is written to it for the recipients, which ParseRecipients returned. Close ends the file, but does not close to.
func Write(to io.Writer, recipients []string) (io.WriteCloser, error) {
	keys := []age.Recipient{note(Fingerprints(recipients))}
	for _, recipient := range recipients {
		key, err := age.ParseX25519Recipient(recipient)
		if err != nil {
			return nil, fmt.Errorf("%.100q is not a recipient of age", recipient)
		}
		keys = append(keys, key)
	}
	return age.Encrypt(to, keys...)
}

// note is a recipient that cannot decrypt anything.
type note []string

// Wrap implements age.Recipient.
func (n note) Wrap([]byte) ([]*age.Stanza, error) {
	return []*age.Stanza{{Type: noteType, Args: n}}, nil
}

// Open returns the content of an archive, and the fingerprints of those whom it is encrypted for; none if it is not encrypted. The error is
// ErrNoIdentity, that of the stream, or means that the archive is damaged. The content is verified as it is read: an error may come at any
// time.
func Open(stream io.Reader, identities Identities) (content io.Reader, fingerprints []string, err error) {
	from := &source{Reader: stream}
	buffered := bufio.NewReaderSize(from, 64<<10)
	if begin, _ := buffered.Peek(len(intro)); string(begin) != intro {
		return buffered, nil, nil
	}
	key := &opener{identities: identities}
	content, err = age.Decrypt(buffered, key)
	if errors.Is(err, errNotOurs) {
		err = identities.Fit(key.fingerprints)
		if err == nil { // it is one of them, so the header is damaged
			err = errNotOurs
		}
	}
	if err != nil {
		return nil, key.fingerprints, from.explain(err)
	}
	return &decrypted{content, from}, key.fingerprints, nil
}

// errNotOurs means that no stanza could be opened.
var errNotOurs = errors.New("none of the identities opens its header")

// opener tries identities, and keeps the note.
type opener struct {
	identities   Identities
	fingerprints []string
}

// Unwrap implements age.Identity.
func (o *opener) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	at := slices.IndexFunc(stanzas, func(s *age.Stanza) bool { return s.Type == noteType })
	if o.fingerprints = []string{}; at >= 0 {
		o.fingerprints = stanzas[at].Args
	}
	for _, key := range o.identities.keys {
		file, err := key.Unwrap(stanzas)
		if !errors.Is(err, age.ErrIncorrectIdentity) {
			return file, err
		}
	}
	return nil, errNotOurs
}

// source keeps the error of a stream, which age does not always pass on.
type source struct {
	io.Reader
	failed error
}

// Read implements io.Reader.
func (s *source) Read(into []byte) (int, error) {
	n, err := s.Reader.Read(into)
	if err != nil && err != io.EOF {
		s.failed = err
	}
	return n, err
}

// explain adds the error of the stream.
func (s *source) explain(err error) error {
	if s.failed != nil && !errors.Is(err, s.failed) {
		return fmt.Errorf("%w: %w", err, s.failed)
	}
	return err
}

// decrypted is the content of an encrypted archive.
type decrypted struct {
	io.Reader
	from *source
}

// Read implements io.Reader.
func (d *decrypted) Read(into []byte) (int, error) {
	n, err := d.Reader.Read(into)
	if err != nil && err != io.EOF { //nolint:errorlint // readers return io.EOF itself
		err = d.from.explain(fmt.Errorf("decrypt: %w", err))
	}
	return n, err
}
