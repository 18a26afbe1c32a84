// Package docs_test holds the documentation to what the program really does: every sample and every
// block of YAML, every message that is quoted, every name that is listed.
package docs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/webhooks/admission"
)

const (
	root       = "../.."
	samplesDir = root + "/config/samples"
	// namespaceMark stands in a quoted message for the namespace of whoever applies the sample.
	namespaceMark = "$NAMESPACE"
)

// sample is one file of config/samples. Its leading comments say in words what it shows, and in lines
// "# expect: MESSAGE" or "# warn: MESSAGE" every message that it meets, in any order, since an API
// server has none for the faults of different fields; in lines
// "# v1alpha1: MESSAGE" those that it meets in v1alpha1, where they read differently.
type sample struct {
	name                   string
	expect, warn, v1alpha1 []string
	documents              []string
}

// readSamples reads the files that match pattern below config/samples.
func readSamples(t *testing.T, pattern string) []sample {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(samplesDir, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples %s: %v", pattern, err)
	}
	var samples []sample
	for _, path := range paths {
		if filepath.Base(path) == "kustomization.yaml" {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := sample{name: strings.TrimSuffix(filepath.Base(path), ".yaml"), documents: split(t, content)}
		for line := range strings.Lines(string(content)) {
			line = strings.TrimSuffix(line, "\n")
			if message, ok := strings.CutPrefix(line, "# expect: "); ok {
				s.expect = append(s.expect, message)
			} else if message, ok := strings.CutPrefix(line, "# warn: "); ok {
				s.warn = append(s.warn, message)
			} else if message, ok := strings.CutPrefix(line, "# v1alpha1: "); ok {
				s.v1alpha1 = append(s.v1alpha1, message)
			} else if !strings.HasPrefix(line, "# ") {
				break
			}
		}
		samples = append(samples, s)
	}
	return samples
}

// split returns the documents of a YAML file.
func split(t *testing.T, content []byte) []string {
	t.Helper()
	var documents []string
	reader := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(content)))
	defer reader.Close()
	buffer := make([]byte, 1<<20)
	for {
		n, err := reader.Read(buffer)
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(buffer[:n]))
	}
}

// apply is how a sample reaches an API server: the manifest goes in, kubectl's complaint comes out; err
// says that the manifest was refused.
type apply func(manifest string) (stderr string, err error)

// check applies s's last document and returns how what is said differs from what the file says, or "".
func (s sample) check(namespace string, apply apply) string {
	stderr, err := apply(s.documents[len(s.documents)-1])
	if refused := err != nil; refused != (len(s.expect) > 0) {
		return fmt.Sprintf("refused: %v; the file expects %q\n%s", refused, s.expect, stderr)
	}
	if len(s.expect) > 0 {
		return differ(s.expect, refusals(stderr), namespace)
	}
	return differ(s.warn, warnings(stderr), namespace)
}

func differ(want, got []string, namespace string) string {
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], namespaceMark, namespace)
	}
	slices.Sort(want)
	slices.Sort(got)
	if slices.Equal(want, got) {
		return ""
	}
	return fmt.Sprintf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
}

func warnings(stderr string) []string {
	var found []string
	for line := range strings.Lines(stderr) {
		if message, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "Warning: "); ok {
			found = append(found, message)
		}
	}
	return found
}

var (
	refusal = regexp.MustCompile(`(?s)is invalid: \n?(.*)`)
	strict  = regexp.MustCompile(`(?s)strict decoding error: (.*)`)
)

// refusals takes kubectl's complaint apart into messages. What the API server adds of its own, that a
// broken schema kept it from looking at the CEL rules, is left out.
func refusals(stderr string) []string {
	match := strict.FindStringSubmatch(stderr)
	if match == nil {
		match = refusal.FindStringSubmatch(stderr)
	}
	if match == nil {
		return []string{stderr}
	}
	var found []string
	for line := range strings.Lines(match[1]) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "* ")
		if line != "" && !strings.Contains(line, "some validation rules were not checked") {
			found = append(found, line)
		}
	}
	return found
}

// The real rules, fed with the objects of the sample's own file, have nothing to say about it.
func TestSamplesAreWithoutFault(t *testing.T) {
	samples := append(append(readSamples(t, "*.yaml"), readSamples(t, "v1alpha1/*.yaml")...), soon(t))
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			facts := admission.Facts{TargetMissing: true}
			judged := 0
			for _, document := range s.documents {
				switch object := decode(t, document).(type) {
				case *appsv1.Deployment:
					facts.TargetMissing = false
					mustLeaveCount(t, object.Spec.Replicas)
				case *appsv1.StatefulSet:
					facts.TargetMissing = false
					mustLeaveCount(t, object.Spec.Replicas)
				case *appsv1.DaemonSet, *v1alpha1.Workspace:
					facts.TargetMissing = false
				case *corev1.ConfigMap:
					facts.Holidays = &admission.HolidaySource{Exists: true}
					for key := range object.Data {
						facts.Holidays.Keys = append(facts.Holidays.Keys, key)
					}
				case *v1beta1.TimeWindowScaler:
					judged++
					if found := admission.CheckTimeWindowScaler(object, nil, facts, now); len(found) > 0 {
						t.Error(found)
					}
				}
			}
			if judged == 0 {
				t.Error("no TimeWindowScaler in it")
			}
		})
	}
}

func mustLeaveCount(t *testing.T, replicas *int32) {
	t.Helper()
	if replicas != nil {
		t.Error("the workload has replicas: every apply would undo what the schedule did")
	}
}

// soon is the sample that is a template, made for two times.
func soon(t *testing.T) sample {
	t.Helper()
	tmpl, err := template.ParseFiles(filepath.Join(samplesDir, "soon", "soon.yaml.tmpl"))
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	if err := tmpl.Option("missingkey=error").Execute(&content, map[string]string{"Start": "23:59", "End": "00:00"}); err != nil {
		t.Fatal(err)
	}
	return sample{name: "soon", documents: split(t, content.Bytes())}
}
