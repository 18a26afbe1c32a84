package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// A published version never changes, and a release is pushed only to the registry that its chart names.
func TestPushOnce(t *testing.T) {
	registry, p := pushSmall(t)
	signIn(t, p.folder, key, registry) // pushing the same release again is allowed
	err := run(t.Context(), []string{"sign", "--dir", p.folder, "--key", key, "--registry", registryHost + "/elsewhere"}, &bytes.Buffer{})
	if want := "was packed for the registry"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	targets, err := p.targets()
	if err != nil {
		t.Fatal(err)
	}
	put(t, targets[0].tag, empty.Index)
	err = run(t.Context(), []string{"sign", "--dir", p.folder, "--key", key, "--registry", registry}, &bytes.Buffer{})
	if want := "is already published as"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if err := os.WriteFile(filepath.Join(p.folder, p.files[1].name), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = run(t.Context(), []string{"sign", "--dir", p.folder, "--key", key}, &bytes.Buffer{})
	if want := "has changed since it was packed"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// The in-toto project's own library accepts the statement.
func TestStatement(t *testing.T) {
	var s intoto.Statement
	if err := protojson.Unmarshal([]byte(read(t, filepath.Join(released, statementFile))), &s); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	verifier, err := loadVerifier(publicKey())
	if err != nil {
		t.Fatal(err)
	}
	about := &slsaProvenance{}
	if _, err := openEnvelope([]byte(read(t, filepath.Join(released, envelopeFile))), verifier, about); err != nil {
		t.Error(err)
	}
	if source := about.BuildDefinition.ResolvedDependencies[0]; source.Digest["gitCommit"] != commit {
		t.Errorf("built from %+v", source)
	}
}

// sha256sum and openssl verify the files without sigstore.
func TestFilesByCommonTools(t *testing.T) {
	for _, command := range []string{
		"sha256sum --check --strict " + sumsFile,
		"base64 -d " + signatureFile + " > $OUT && openssl dgst -sha256 -verify " + publicKeyFile + " -signature $OUT " + sumsFile,
	} {
		shell := exec.Command("sh", "-ec", command)
		shell.Dir, shell.Env = released, append(os.Environ(), "OUT="+filepath.Join(t.TempDir(), "out"))
		if text, err := shell.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, text)
		}
	}
}

// A key is encrypted, and never written over another one.
func TestKey(t *testing.T) {
	if text := read(t, key); !strings.Contains(text, "ENCRYPTED SIGSTORE PRIVATE KEY") {
		t.Errorf("the key is\n%s", text)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if err := run(t.Context(), []string{"key", "--key", key}, &bytes.Buffer{}); !os.IsExist(err) {
		t.Errorf("written over a key: %v", err)
	}
	t.Setenv(passwordVariable, "wrong")
	if _, err := loadSigner(key); err == nil {
		t.Error("read with a wrong password")
	}
}
