package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// The files of a packed release besides those that people download.
const (
	layoutFolder   = "oci"
	sumsFile       = "SHA256SUMS"
	statementFile  = "provenance.json"
	envelopeFile   = "provenance.intoto.jsonl"
	signatureFile  = "SHA256SUMS.sig"
	publicKeyFile  = "kyklos.pub"
	iconFile       = "kyklos.svg"
	schemasFolder  = "schemas"
	imageName      = "kyklos"
	chartName      = "charts/kyklos"
	filesName      = "kyklos-files"
	filesMediaType = "application/vnd.kyklos.release.v1"
)

// pack writes the release to the folder: the image, the chart, all files for download, their checksums and the
// provenance. Nothing in it is signed yet.
func pack(of release, source, out string, programs []program, stdout io.Writer) error {
	var linux []program
	for _, p := range programs {
		if p.os == "linux" {
			linux = append(linux, p)
		}
	}
	index, err := newIndex(of, linux)
	if err != nil {
		return err
	}
	image, err := writeLayout(filepath.Join(out, layoutFolder), of, index)
	if err != nil {
		return err
	}
	chart, err := packChart(of, filepath.Join(source, "config", "chart"), image.String())
	if err != nil {
		return fmt.Errorf("packing the chart: %w", err)
	}
	files, err := downloads(of, source, programs, chart)
	if err != nil {
		return err
	}
	files = append(files, checksums(files))
	subjects := []subject{subjectOf(imageName, image)}
	for name, newArtifact := range map[string]func() (v1.Image, error){
		chartName: func() (v1.Image, error) { return chartArtifact(of, chart) },
		filesName: func() (v1.Image, error) { return filesArtifact(of, files) },
	} {
		artifact, err := newArtifact()
		if err != nil {
			return err
		}
		digest, err := artifact.Digest()
		if err != nil {
			return err
		}
		subjects = append(subjects, subjectOf(name, digest))
	}
	statement, err := json.MarshalIndent(provenance(of, programs, files, subjects), "", "  ")
	if err != nil {
		return err
	}
	for _, f := range append(files, file{name: statementFile, content: append(statement, '\n')}) {
		if err := writeFile(filepath.Join(out, f.name), f.content); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "kyklos:%s %s and %d files in %s\n", of.version, image, len(files), out)
	return nil
}

// downloads are the files of the release that people download.
func downloads(of release, source string, programs []program, chart file) (files []file, err error) {
	files = append(files, chart)
	var archives []krewArchive
	for _, p := range programs {
		archive, err := p.archive(of)
		if err != nil {
			return nil, err
		}
		list, err := sbom(of, p)
		if err != nil {
			return nil, fmt.Errorf("writing the SBOM of %s: %w", p.path, err)
		}
		files = append(files, archive, file{name: p.base(of.version) + ".cdx.json", content: list})
		archives = append(archives, krewArchive{p, archive})
	}
	schemas, err := readSchemas(filepath.Join(source, "config", "crd", "bases"))
	if err != nil {
		return nil, err
	}
	packed, err := tarGzip(schemas, of.date)
	if err != nil {
		return nil, err
	}
	icon, err := os.ReadFile(filepath.Join(source, "config", iconFile))
	if err != nil {
		return nil, err
	}
	files = append(files, file{name: iconFile, content: icon}, file{name: "kyklos-schemas-" + of.version + ".tar.gz", content: packed})
	if of.downloads != "" {
		manifest, err := krewManifest(of, archives)
		if err != nil {
			return nil, err
		}
		files = append(files, manifest)
	}
	return files, nil
}

// checksums is in the format of sha256sum --check.
func checksums(files []file) file {
	var lines strings.Builder
	for _, f := range files {
		fmt.Fprintf(&lines, "%s  %s\n", sha256Hex(f.content), f.name)
	}
	return file{name: sumsFile, content: []byte(lines.String())}
}

// parseChecksums returns the files of checksums by their names.
func parseChecksums(text []byte) (sums map[string]string, names []string, err error) {
	sums = map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if _, err := hex.DecodeString(sum); err != nil || !found || len(sum) != sha256.Size*2 || name != filepath.Base(name) {
			return nil, nil, fmt.Errorf("%s: not a checksum: %q", sumsFile, line)
		}
		sums[name], names = sum, append(names, name)
	}
	return sums, names, nil
}

func sha256Hex(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
