package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/sigstore/sigstore/pkg/signature"
	"google.golang.org/protobuf/encoding/protojson"
)

func repository() string { return registryHost + "/kyklos-project" }

func publicKey() string { return strings.TrimSuffix(key, ".key") + ".pub" }

// check verifies a release in a registry with a public key.
func check(t *testing.T, registry, public string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), []string{"verify", "--registry", registry, "--version", version, "--key", public}, &out)
	return out.String(), err
}

// copyRelease copies all that the registry has of the release to other repositories of it, where a test may change it. The
// signatures name the repositories, so it signs again: with the same key.
func copyRelease(t *testing.T) (registry string, p packed) {
	t.Helper()
	registry = registryHost + "/" + strings.ToLower(t.Name())
	folder := filepath.Join(t.TempDir(), "copy")
	args := []string{"pack", "--version", version, "--commit", commit, "--date", date, "--builder", "https://example.com/builder",
		"--registry", registry, "--source", root, "--out", folder, filepath.Join(built, "kyklos-"+arch)}
	if err := run(t.Context(), args, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	signIn(t, folder, key, registry)
	p, err := readPacked(folder)
	if err != nil {
		t.Fatal(err)
	}
	return registry, p
}

func signIn(t *testing.T, folder, key, registry string) {
	t.Helper()
	if err := run(t.Context(), []string{"sign", "--dir", folder, "--key", key, "--registry", registry}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
}

// What make release has pushed is verified from the registry alone.
func TestVerify(t *testing.T) {
	if err := runMake(root, []string{"release-verify", "VERSION=" + version, "REGISTRY=" + repository(), "PUBLIC_KEY=" + publicKey()}); err != nil {
		t.Error(err)
	}
	out, err := check(t, repository(), filepath.Join(released, publicKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out, "ok: "); lines != 6 {
		t.Errorf("%d lines:\n%s", lines, out)
	}
}

// Whatever is changed in the registry by somebody without the key is found.
func TestVerifyRefuses(t *testing.T) {
	registry, p := copyRelease(t)
	if _, err := check(t, registry, publicKey()); err != nil {
		t.Fatalf("untouched: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other.key")
	if err := run(t.Context(), []string{"key", "--key", other}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	if _, err := check(t, registry, strings.TrimSuffix(other, ".key")+".pub"); err == nil {
		t.Error("another key is accepted")
	}
	targets, err := p.targets()
	if err != nil {
		t.Fatal(err)
	}
	image, chart, files := targets[0], targets[1], targets[2]
	for _, test := range []struct {
		what, want string
		change     func(t *testing.T)
		back       target
	}{
		{"another image", "MANIFEST_UNKNOWN", func(t *testing.T) {
			put(t, image.tag, mutate.AppendManifests(image.content.(v1.ImageIndex), mutate.IndexAddendum{Add: empty.Image}))
		}, image},
		{"another image with the signatures of this one", "the signature is about", func(t *testing.T) {
			changed := mutate.AppendManifests(image.content.(v1.ImageIndex), mutate.IndexAddendum{Add: empty.Image})
			digest, err := changed.Digest()
			if err != nil {
				t.Fatal(err)
			}
			put(t, image.tag, changed)
			for _, suffix := range []string{signatureTag, attestationTag} {
				put(t, beside(image.tag.Digest(digest.String()), suffix), get(t, beside(image.tag.Digest(image.digest.String()), suffix)))
			}
		}, image},
		{"the chart in the image's place", "MANIFEST_UNKNOWN", func(t *testing.T) { put(t, image.tag, chart.content) }, image},
		{"another chart", "MANIFEST_UNKNOWN", func(t *testing.T) {
			changed := p.files[0]
			changed.content = append(bytes.Clone(changed.content), 0)
			artifact, err := chartArtifact(p.release, changed)
			if err != nil {
				t.Fatal(err)
			}
			put(t, chart.tag, artifact)
		}, chart},
		{"another checksum", "MANIFEST_UNKNOWN", func(t *testing.T) {
			changed := append([]file(nil), p.files...)
			last := &changed[len(changed)-1]
			last.content = bytes.Replace(last.content, []byte("a"), []byte("b"), 1)
			artifact, err := filesArtifact(p.release, changed)
			if err != nil {
				t.Fatal(err)
			}
			put(t, files.tag, artifact)
		}, files},
		{"provenance by another key", "accepted signatures do not match threshold", func(t *testing.T) {
			signer, err := loadSigner(other)
			if err != nil {
				t.Fatal(err)
			}
			forged, err := envelope(p.statement, signer)
			if err != nil {
				t.Fatal(err)
			}
			attested, err := attach(empty.Image, forged, envelopeType, nil)
			if err != nil {
				t.Fatal(err)
			}
			put(t, beside(files.tag.Digest(files.digest.String()), attestationTag), attested)
		}, files},
		{"no signature", "MANIFEST_UNKNOWN", func(t *testing.T) {
			if err := remote.Delete(beside(chart.tag.Digest(chart.digest.String()), signatureTag)); err != nil {
				t.Fatal(err)
			}
		}, chart},
	} {
		test.change(t)
		if _, err := check(t, registry, publicKey()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.what, err, test.want)
		}
		put(t, test.back.tag, test.back.content)
	}
}

// What the signer itself has got wrong is found as well: a list of files that lacks one, and a chart for another image.
func TestVerifyRefusesWhatDoesNotFit(t *testing.T) {
	signer, err := loadSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(p *packed) error
		want   string
	}{
		"files": {func(p *packed) error {
			artifact, err := filesArtifact(p.release, p.files[1:])
			return errorsFirst(err, func() error { return p.replace(t, filesName, artifact, signer) })
		}, "does not have the checksum"},
		"chart": {func(p *packed) error {
			chart, err := packChart(p.release, filepath.Join(root, "config/chart"), "sha256:"+strings.Repeat("0", 64))
			if err != nil {
				return err
			}
			artifact, err := chartArtifact(p.release, chart)
			return errorsFirst(err, func() error { return p.replace(t, chartName, artifact, signer) })
		}, "the chart installs"},
	} {
		t.Run(name, func(t *testing.T) {
			registry, p := copyRelease(t)
			if err := test.change(&p); err != nil {
				t.Fatal(err)
			}
			if _, err := check(t, registry, publicKey()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// A published version never changes, and nothing is pushed elsewhere than where the chart looks for its image.
func TestPushOnce(t *testing.T) {
	registry, p := copyRelease(t)
	signIn(t, p.folder, key, registry) // the same again is no change
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

// The statement is one by the library of the in-toto project, too.
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

// sha256sum and openssl verify what lies in the folder, with nothing of sigstore's.
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

// replace puts an artifact in the place of one of the release, with signatures by the key.
func (p *packed) replace(t *testing.T, repository string, artifact v1.Image, signer signature.Signer) error {
	digest, err := artifact.Digest()
	if err != nil {
		return err
	}
	for i := range p.statement.Subject {
		if p.statement.Subject[i].Name == repository {
			p.statement.Subject[i] = subjectOf(repository, digest)
		}
	}
	forged, err := envelope(p.statement, signer)
	if err != nil {
		return err
	}
	tag := p.version
	if repository == chartName {
		tag = p.chartVersion()
	}
	to, err := name.NewTag(p.registry + "/" + repository + ":" + tag)
	if err != nil {
		return err
	}
	return target{to, artifact, digest}.push(t.Context(), [][]byte{forged}, signer)
}

func errorsFirst(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

func put(t *testing.T, to name.Tag, content remote.Taggable) {
	t.Helper()
	if err := write(t.Context(), to, content); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, from name.Tag) v1.Image {
	t.Helper()
	image, err := remote.Image(from)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// mustJSON reads JSON of any form.
func mustJSON(t *testing.T, text []byte) (value any) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}
