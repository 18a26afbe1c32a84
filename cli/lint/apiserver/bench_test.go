package apiserver_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/config/crd"
	"kyklos.io/kyklos/test/bench"
)

const samples = "../../../config/samples"

// BenchmarkThousandManifests reads and validates 1,000 valid manifests, for which every rule is run, of all kinds and versions.
// What the server takes to start is a figure of its own.
func BenchmarkThousandManifests(b *testing.B) {
	set, err := manifest.Read([]string{samples}, nil)
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	server, err := apiserver.New(crd.Bases)
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range []string{"office-hours.yaml", "v1alpha1/office-hours.yaml", "workspaces/editor.yaml"} {
		for _, object := range read(b, filepath.Join(samples, kind)) {
			if server.Knows(object.GroupVersionKind()) {
				server.Create(object, "default") // compiles the rules of the version
			}
		}
	}
	startUp := time.Since(start)
	var files [][]byte
	for _, object := range set.Objects {
		if server.Knows(object.GroupVersionKind()) && !strings.Contains(object.File.Name, "invalid") {
			files = append(files, object.Raw)
		}
	}
	refused, before := 0, spent(b)
	for b.Loop() {
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		responses := make([]apiserver.Response, 1000)
		for i := range responses {
			group.Go(func() error {
				objects, _ := manifest.Parse(&manifest.File{Name: "-", Data: files[i%len(files)]})
				responses[i] = server.Create(objects[0], "default")
				return nil
			})
		}
		_ = group.Wait()
		for _, response := range responses {
			if len(response.Errors) > 0 {
				refused++
			}
		}
	}
	record := func(what string, took time.Duration) {
		bench.Record(b, bench.Figure{Area: "lint", What: "validation: " + what, Unit: "ms", Value: 1000 * took.Seconds()})
	}
	record("1,000 manifests", b.Elapsed()/time.Duration(b.N))
	record("1,000 manifests, CPU", (spent(b)-before)/time.Duration(b.N))
	record("its start, once", startUp)
	if refused > 0 {
		b.Errorf("%d of the manifests are refused", refused)
	}
}

// spent is the time that the process has had of all cores.
func spent(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func read(t testing.TB, path string) []*manifest.Object {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(bytes.TrimSpace(text)))
}

func parse(t testing.TB, text string) []*manifest.Object {
	t.Helper()
	objects, problems := manifest.Parse(&manifest.File{Name: "test.yaml", Data: []byte(text)})
	if len(problems) > 0 {
		t.Fatal(problems[0])
	}
	return objects
}
