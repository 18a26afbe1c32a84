package docs

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
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/webhooks/admission"
)

const (
	// namespaceMark is replaced by the sample's namespace in a quoted message.
	namespaceMark = "$NAMESPACE"
)

// sample is one file of config/samples. Its leading comments explain it. Lines "# expect: MESSAGE" and "# warn: MESSAGE"
// list all its messages, in any order, because an API server has none for errors of different fields. Lines "# v1alpha1:
// MESSAGE" list those of v1alpha1 where they differ.
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
		harness.Must(t, err)
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
		harness.Must(t, err)
		documents = append(documents, string(buffer[:n]))
	}
}

// apply applies a manifest and returns kubectl's stderr. err means that the manifest was refused.
type apply func(manifest string) (stderr string, err error)

// check applies the last document and returns the difference between its messages and those that the file expects, or
// "".
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
	want, got = inOneWording(os.Getenv(harness.MinorVariable), want, got)
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

// refusals splits kubectl's error into messages. It drops the API server's note that a broken schema kept it from
// checking the CEL rules.
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

// Admission has no findings for the samples, with the objects of the same file.
func TestSamplesAreWithoutFault(t *testing.T) {
	samples := append(append(readSamples(t, "*.yaml"), readSamples(t, "v1alpha1/*.yaml")...), soon(t))
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			facts := admission.Facts{TargetMissing: true}
			validated := 0
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
					validated++
					if found := admission.CheckTimeWindowScaler(object, nil, facts, now); len(found) > 0 {
						t.Error(found)
					}
				}
			}
			if validated == 0 {
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

// soon is the template sample with two times.
func soon(t *testing.T) sample {
	t.Helper()
	tmpl, err := template.ParseFiles(filepath.Join(samplesDir, "soon", "soon.yaml.tmpl"))
	harness.Must(t, err)
	var content bytes.Buffer
	harness.Must(t, tmpl.Option("missingkey=error").Execute(&content, map[string]string{"Start": "23:59", "End": "00:00"}))
	return sample{name: "soon", documents: split(t, content.Bytes())}
}
