// Command image packs kyklos binaries, one for each architecture, into a container image without a builder
// or a registry: an OCI layout of all of them, a tarball for each (what docker load and ctr images import
// read) and a list of what is inside (SBOM). Nothing depends on the time, the folder or the machine.
package main

import (
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// release says what the binaries were built from.
type release struct {
	version, commit string
	// date is the commit's; every time in the image is this one.
	date time.Time
}

// program is one binary and what the Go command noted in it.
type program struct {
	path, arch string
	content    []byte
	info       *buildinfo.BuildInfo
}

func main() {
	var of release
	var date, out string
	flag.StringVar(&of.version, "version", "", "version of the binaries, also the image's tag (required)")
	flag.StringVar(&of.commit, "commit", "", "commit that they were built from (required)")
	flag.StringVar(&date, "date", "", "the commit's date as RFC 3339 (required)")
	flag.StringVar(&out, "out", "", "folder to write to (required)")
	flag.Parse()
	var err error
	if of.date, err = time.Parse(time.RFC3339, date); err != nil {
		err = fmt.Errorf("--date: must be as 2026-11-21T15:00:00Z, not %q", date)
	} else if of.version == "" || of.commit == "" || out == "" {
		err = fmt.Errorf("--version, --commit and --out must be given")
	} else {
		err = pack(of, out, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// pack writes everything to the folder and prints the digests.
func pack(of release, out string, binaries []string) error {
	if len(binaries) == 0 {
		return fmt.Errorf("name at least one binary")
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, path := range binaries {
		binary, err := readProgram(path)
		if err != nil {
			return err
		}
		image, err := newImage(of, binary)
		if err != nil {
			return fmt.Errorf("packing %s: %w", path, err)
		}
		if err := writeTarball(filepath.Join(out, "kyklos-"+binary.arch+".tar"), of.version, image); err != nil {
			return fmt.Errorf("writing a tarball of %s: %w", path, err)
		}
		if err := writeSBOM(filepath.Join(out, "kyklos-"+binary.arch+".cdx.json"), of, binary); err != nil {
			return fmt.Errorf("listing the parts of %s: %w", path, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform(binary.arch)}})
	}
	return writeLayout(filepath.Join(out, "oci"), of, index)
}

func readProgram(path string) (program, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	binary := program{path: path, content: content, info: info}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "GOARCH":
			binary.arch = setting.Value
		case setting.Key == "GOOS" && setting.Value != "linux", setting.Key == "CGO_ENABLED" && setting.Value != "0":
			return program{}, fmt.Errorf("%s: must be built for linux without C, but has %s=%s", path, setting.Key, setting.Value)
		}
	}
	return binary, nil
}

// writeLayout replaces the folder by an OCI layout of the index and prints the index's digest: the name
// by which a registry serves it.
func writeLayout(folder string, of release, index v1.ImageIndex) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	index = mutate.Annotations(index, labels(of)).(v1.ImageIndex)
	path, err := layout.Write(folder, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return err
	}
	// The name by which skopeo and other readers of layouts pick one of several images.
	reference := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": of.version})
	if err := path.AppendIndex(index, reference); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Printf("kyklos:%s %s in %s\n", of.version, digest, folder)
	return nil
}
