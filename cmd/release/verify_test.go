package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/sigstore/sigstore/pkg/signature"
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

// pushSmall pushes a release with a small binary to repositories of the test's own, by the same key.
func pushSmall(t *testing.T) (registry string, p packed) {
	t.Helper()
	registry = registryHost + "/" + strings.ToLower(t.Name())
	folder := filepath.Join(t.TempDir(), "copy")
	args := []string{"pack", "--version", version, "--commit", commit, "--date", date, "--builder", "https://example.com/builder",
		"--registry", registry, "--source", root, "--out", folder, smallPrograms(t, "linux/"+arch)[0].path}
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

// The release that make release pushed is verified from the registry alone.
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

// Every change that can be made in the registry without the key is found.
func TestVerifyRefuses(t *testing.T) {
	registry, p := pushSmall(t)
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

// Signed content that does not fit together is found as well: a missing file, and a chart for another image.
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
			registry, p := pushSmall(t)
			if err := test.change(&p); err != nil {
				t.Fatal(err)
			}
			if _, err := check(t, registry, publicKey()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
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
