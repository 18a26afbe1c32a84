package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
)

const (
	root = "../.."
	// arch is the only one that is built here: a second one compiles everything again.
	arch    = "amd64"
	version = "v1.2.3-test"
	commit  = "0123456789abcdef0123456789abcdef01234567"
	date    = "2026-03-04T05:06:07Z"
)

var full = flag.Bool("full", false, "build the second time with nothing in the build cache, too")

var (
	// built is the folder with the image, which TestMain makes once for all tests.
	built string
	// released is the folder with the release, and registryHost where TestMain has pushed it.
	released, registryHost string
	// key is the private key of the release; its public key is in the same folder.
	key string
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := 1
	func() {
		folder, err := os.MkdirTemp("", "kyklos-release-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		defer os.RemoveAll(folder)
		server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
		defer server.Close()
		registryHost = strings.TrimPrefix(server.URL, "http://")
		built, released, key = filepath.Join(folder, "image"), filepath.Join(folder, "release"), filepath.Join(folder, "release.key")
		err = errors.Join(os.Setenv(passwordVariable, "correct horse"), makeImage(root, built))
		if err == nil {
			err = runMake(root, []string{"release-key", "KEY=" + key})
		}
		if err == nil {
			err = makeRelease(root, released, []string{"KEY=" + key})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		code = m.Run()
	}()
	os.Exit(code)
}

// runMake runs a verb of the Makefile as a user would, with further variables of environment.
func runMake(source string, args []string, env ...string) error {
	make := exec.Command("make", append([]string{"-C", source}, args...)...)
	make.Env = append(os.Environ(), env...)
	if text, err := make.CombinedOutput(); err != nil {
		return fmt.Errorf("make %s: %w\n%s", args[0], err, text)
	}
	return nil
}

func makeImage(source, out string, env ...string) error {
	return runMake(source, []string{"image", "ARCHITECTURES=" + arch, "IMAGE_DIR=" + out,
		"VERSION=" + version, "COMMIT=" + commit, "DATE=" + date}, env...)
}

func makeRelease(source, out string, args []string, env ...string) error {
	return runMake(source, append([]string{"release", "PLATFORMS=linux/" + arch, "RELEASE_DIR=" + out, "VERSION=" + version, "COMMIT=" + commit,
		"DATE=" + date, "REGISTRY=" + registryHost + "/kyklos-project", "DOWNLOADS=https://example.com/" + version}, args...), env...)
}

// A second build in another folder, at another time and with other settings gives the same bytes. That folder has what
// .dockerignore lets through and the chart, but no Git repository, so a source archive and the Dockerfile are enough.
// Only signatures differ.
func TestReproducible(t *testing.T) {
	source, out := filepath.Join(t.TempDir(), "elsewhere"), t.TempDir()
	for _, name := range append(dockerContext(t), "Makefile", "config/chart", "config/kyklos.svg", "cmd/release") {
		copyTo(t, source, name)
	}
	env := []string{"TZ=Pacific/Chatham", "LANG=C", "GOAMD64=v3", "HOME=" + t.TempDir(), "GOCACHE=" + goEnv(t, "GOCACHE"), "GOMODCACHE=" + goEnv(t, "GOMODCACHE")}
	if *full {
		env = append(env, "GOCACHE="+t.TempDir())
	}
	images, again := filepath.Join(out, "image"), filepath.Join(out, "release")
	if err := errors.Join(makeImage(source, images, env...), makeRelease(source, again, []string{"KEY=" + key}, env...)); err != nil {
		t.Fatal(err)
	}
	for _, folders := range [][2]string{{built, images}, {released, again}} {
		first, second := sums(t, folders[0]), sums(t, folders[1])
		for _, signed := range []string{signatureFile, envelopeFile} {
			if (first[signed] == second[signed]) != (first[signed] == "") {
				t.Errorf("%s: %s and %s", signed, first[signed], second[signed])
			}
			delete(first, signed)
			delete(second, signed)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("two builds differ:\n%s", diff)
		}
		if len(first) < 8 {
			t.Errorf("only %d files were compared", len(first))
		}
	}
}

// copyTo copies a file or a folder of the repository to the same place below another folder.
func copyTo(t *testing.T, folder, name string) {
	t.Helper()
	from, to := filepath.Join(root, name), filepath.Join(folder, name)
	info, err := os.Stat(from)
	if err == nil && info.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, []byte(read(t, from)), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// dockerContext returns the files that .dockerignore lets through.
func dockerContext(t *testing.T) []string {
	t.Helper()
	var names []string
	for line := range strings.Lines(read(t, filepath.Join(root, ".dockerignore"))) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Fatal(".dockerignore excludes everything")
	}
	return names
}

// The Dockerfile builds the same binary, so it must use the same flags.
func TestDockerfileBuildsTheSame(t *testing.T) {
	command := func(text, from, to string) string {
		_, text, found := strings.Cut(text, from)
		text, _, ended := strings.Cut(text, to)
		if !found || !ended {
			t.Fatalf("no %q followed by %q", from, to)
		}
		return strings.Join(strings.Fields(strings.ReplaceAll(text, "\\\n", " ")), " ")
	}
	dry, err := exec.Command("make", "-n", "-C", root, "image", "VERSION=$${VERSION}", "COMMIT=$${COMMIT}", "DATE=$${DATE}").Output()
	if err != nil {
		t.Fatal(err)
	}
	dockerfile := read(t, filepath.Join(root, "Dockerfile"))
	if diff := cmp.Diff(command(string(dry), "go build", "-o"), command(dockerfile, "go build", "-o")); diff != "" {
		t.Errorf("flags of make image (-) and of the Dockerfile (+):\n%s", diff)
	}
	got := strings.Fields(command(dockerfile, "RUN CGO", "go build"))
	want := append(strings.Fields(command(string(dry), "do ", "GOARCH=")), "GOARCH=${TARGETARCH}", "_ENABLED=0")
	if diff := cmp.Diff(setOf(want), setOf(got)); diff != "" {
		t.Errorf("environment of make image (-) and of the Dockerfile (+):\n%s", diff)
	}
	for _, line := range []string{"FROM scratch\n", "USER " + user + "\n", `ENTRYPOINT ["` + binaryPath + `"]` + "\n", "/kyklos " + binaryPath + "\n"} {
		if !strings.Contains(dockerfile, line) {
			t.Errorf("the Dockerfile has no line %q", line)
		}
	}
}

func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// sums returns the SHA-256 of every file in the folder.
func sums(t *testing.T, folder string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			sums[path] = fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, filepath.Join(folder, path)))))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	value, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(value))
}
