package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
)

func readSBOM(t *testing.T) *cyclonedx.BOM {
	t.Helper()
	text, err := os.Open(filepath.Join(built, "kyklos-"+arch+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	bom := &cyclonedx.BOM{}
	if err := cyclonedx.NewBOMDecoder(text, cyclonedx.BOMFileFormatJSON).Decode(bom); err != nil {
		t.Fatal(err)
	}
	return bom
}

// The oracle is the output of go version -m: lines of dep, where a line => replaces the one before it.
func TestSBOMListsEveryModule(t *testing.T) {
	text, err := exec.Command("go", "version", "-m", filepath.Join(built, "kyklos-"+arch)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var names, hashes []string
	for line := range strings.Lines(string(text)) {
		fields := append(strings.Fields(line), "-")
		switch fields[0] {
		case "=>":
			names, hashes = names[:len(names)-1], hashes[:len(hashes)-1]
			fallthrough
		case "dep":
			names = append(names, "pkg:golang/"+fields[1]+"@"+fields[2])
			hashes = append(hashes, strings.TrimPrefix(fields[3], "h1:"))
		}
	}
	if len(names) < 20 {
		t.Fatalf("go version -m names %d modules", len(names))
	}
	release := strings.TrimPrefix(goEnv(t, "GOVERSION"), "go")
	var gotNames, gotHashes []string
	for _, part := range *readSBOM(t).Components {
		gotNames = append(gotNames, part.PackageURL)
		if part.Hashes != nil {
			sum, err := hex.DecodeString((*part.Hashes)[0].Value)
			if err != nil {
				t.Error(err)
			}
			gotHashes = append(gotHashes, base64.StdEncoding.EncodeToString(sum))
		}
	}
	if diff := cmp.Diff(append([]string{"pkg:golang/stdlib@" + release}, names...), gotNames); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(hashes, gotHashes); diff != "" {
		t.Errorf("hashes of go.sum (-) and of the list (+):\n%s", diff)
	}
}

// The list names this binary by its hash, and the binary depends on every part.
func TestSBOMIsOfThisBinary(t *testing.T) {
	bom := readSBOM(t)
	own := bom.Metadata.Component
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, filepath.Join(built, "kyklos-"+arch)))))
	if own.PackageURL != "pkg:golang/kyklos.io/kyklos@"+version || (*own.Hashes)[0].Value != sum || bom.Metadata.Timestamp != date {
		t.Errorf("the list is of %+v at %s", own, bom.Metadata.Timestamp)
	}
	var refs []string
	for _, part := range *bom.Components {
		refs = append(refs, part.BOMRef)
	}
	want := []cyclonedx.Dependency{{Ref: own.BOMRef, Dependencies: &refs}}
	if diff := cmp.Diff(want, *bom.Dependencies); diff != "" {
		t.Error(diff)
	}
}

// A module replaced by a folder has no sum, so others could not build the same image.
func TestModulePart(t *testing.T) {
	const sum = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
	for _, test := range []struct {
		module debug.Module
		want   string
		fails  string
	}{
		{debug.Module{Path: "example.com/a", Version: "v1.0.0", Sum: sum}, "pkg:golang/example.com/a@v1.0.0", ""},
		{debug.Module{Path: "example.com/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/b", Version: "v2.0.0", Sum: sum}},
			"pkg:golang/example.com/b@v2.0.0", ""},
		{debug.Module{Path: "example.com/a", Version: "v1.0.0", Sum: sum, Replace: &debug.Module{Path: "../a"}}, "", "../a has no sum"},
	} {
		part, err := modulePart(&test.module)
		if test.fails != "" {
			if err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%v: error %v, want %q", test.module, err, test.fails)
			}
			continue
		}
		if err != nil || part.PackageURL != test.want || (*part.Hashes)[0].Value != fmt.Sprintf("%x", sha256.Sum256(nil)) {
			t.Errorf("%v: got %+v, %v", test.module, part, err)
		}
	}
}
