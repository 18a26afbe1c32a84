package main

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/dsse"
)

// passwordVariable is where cosign reads a key's password, too.
const passwordVariable = "COSIGN_PASSWORD"

func password(bool) ([]byte, error) {
	if text, ok := os.LookupEnv(passwordVariable); ok {
		return []byte(text), nil
	}
	return nil, fmt.Errorf("set %s to the password of the key", passwordVariable)
}

// writeKey makes a key pair as cosign generate-key-pair does: ECDSA P-256, the private key encrypted with a password.
func writeKey(path string, stdout io.Writer) error {
	private, public, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(elliptic.P256(), password)
	if err != nil {
		return err
	}
	// Never overwrite a key: its releases could not be signed again.
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(private)
	publicPath := strings.TrimSuffix(path, ".key") + ".pub"
	if err := errors.Join(err, out.Close(), os.WriteFile(publicPath, public, 0o644)); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "private key: %s\npublic key: %s\n", path, publicPath)
	return nil
}

func loadSigner(path string) (signature.SignerVerifier, error) {
	signer, err := signature.LoadSignerVerifierFromPEMFile(path, crypto.SHA256, password)
	if err != nil {
		return nil, fmt.Errorf("reading the key %s: %w", path, err)
	}
	return signer, nil
}

func loadVerifier(path string) (signature.Verifier, error) {
	verifier, err := signature.LoadVerifierFromPEMFile(path, crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("reading the public key %s: %w", path, err)
	}
	return verifier, nil
}

// packed is a release that was read from its folder.
type packed struct {
	release
	folder    string
	files     []file
	statement statement
	envelope  []byte
}

// signFiles signs the checksums and the provenance, and writes the signatures and the public key next to them.
func signFiles(folder string, signer signature.SignerVerifier) (packed, error) {
	p, err := readPacked(folder)
	if err != nil {
		return p, err
	}
	sums := p.files[len(p.files)-1].content
	signed, err := signer.SignMessage(bytes.NewReader(sums))
	if err != nil {
		return p, err
	}
	if p.envelope, err = envelope(p.statement, signer); err != nil {
		return p, err
	}
	key, err := signer.PublicKey()
	if err != nil {
		return p, err
	}
	public, err := cryptoutils.MarshalPublicKeyToPEM(key)
	if err != nil {
		return p, err
	}
	return p, errors.Join(
		writeFile(filepath.Join(folder, signatureFile), []byte(base64.StdEncoding.EncodeToString(signed))),
		writeFile(filepath.Join(folder, envelopeFile), append(bytes.Clone(p.envelope), '\n')),
		writeFile(filepath.Join(folder, publicKeyFile), public))
}

// readPacked reads a packed release, and fails if a file has changed since.
func readPacked(folder string) (p packed, err error) {
	p.folder = folder
	text, err := os.ReadFile(filepath.Join(folder, statementFile))
	if err != nil {
		return p, fmt.Errorf("%w: pack a release first", err)
	}
	about := slsaProvenance{}
	p.statement.Predicate = &about
	if err := json.Unmarshal(text, &p.statement); err != nil {
		return p, err
	}
	given := about.BuildDefinition.ExternalParameters
	p.release = release{version: given.Version, commit: given.Commit, date: given.Date, registry: given.Registry, downloads: given.Downloads}
	sums, err := os.ReadFile(filepath.Join(folder, sumsFile))
	if err != nil {
		return p, err
	}
	_, names, err := parseChecksums(sums)
	if err != nil {
		return p, err
	}
	for _, name := range append(names, sumsFile) {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return p, err
		}
		if want, err := p.statement.digestOf(name); err != nil || want != sha256Hex(content) {
			return p, errors.Join(err, fmt.Errorf("%s has changed since it was packed", filepath.Join(folder, name)))
		}
		p.files = append(p.files, file{name: name, content: content})
	}
	return p, nil
}

// envelope is a statement in a signed DSSE envelope.
func envelope(s statement, signer signature.Signer) ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return dsse.WrapSigner(signer, payloadType).SignMessage(bytes.NewReader(text))
}

// openEnvelope verifies an envelope and reads its statement, with the predicate into the given value.
func openEnvelope(text []byte, verifier signature.Verifier, predicate any) (s statement, err error) {
	var decoded []byte
	opened := dsse.WrapVerifier(verifier, dsse.WithExpectedPayloadType(payloadType), dsse.WithDecodedPayload(&decoded))
	if err := opened.VerifySignature(bytes.NewReader(text), nil); err != nil {
		return s, err
	}
	s.Predicate = predicate
	if err := json.Unmarshal(decoded, &s); err != nil {
		return s, err
	}
	if s.Type != statementType {
		return s, fmt.Errorf("the statement is of type %q, not %q", s.Type, statementType)
	}
	return s, nil
}
