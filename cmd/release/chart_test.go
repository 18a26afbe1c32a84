package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tool runs a program whose path is in a variable of environment, with a folder of Helm's own.
func tool(t *testing.T, variable string, env []string, args ...string) string {
	t.Helper()
	binary := os.Getenv(variable)
	if binary == "" {
		t.Skipf("%s is not set: make test-release does", variable)
	}
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home), env...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, complaint.String())
	}
	return string(out)
}

func chartReference() string { return "oci://" + repository() + "/" + chartName }

var chartVersion = release{version: version}.chartVersion()

// Helm pulls the chart, and what it renders is what the chart of the sources renders with this image.
func TestHelmPullsTheChart(t *testing.T) {
	folder := t.TempDir()
	tool(t, "HELM_BIN", nil, "pull", chartReference(), "--version", chartVersion, "--plain-http", "--destination", folder)
	pulled := filepath.Join(folder, "kyklos-"+chartVersion+".tgz")
	if got, want := read(t, pulled), read(t, filepath.Join(released, "kyklos-"+chartVersion+".tgz")); got != want {
		t.Error("the chart in the registry is not the one in the folder")
	}
	digest, err := packedIndexDigest()
	if err != nil {
		t.Fatal(err)
	}
	sources := filepath.Join(t.TempDir(), "kyklos")
	copyFolder(t, sources, filepath.Join(root, "config/chart"))
	tool(t, "HELM_BIN", nil, "package", sources, "--version", chartVersion, "--app-version", chartVersion, "--destination", sources)
	want := tool(t, "HELM_BIN", nil, "template", "kyklos", filepath.Join(sources, "kyklos-"+chartVersion+".tgz"), "--namespace", "kyklos-system",
		"--set", "image.repository="+repository()+"/kyklos,image.digest="+digest)
	got := tool(t, "HELM_BIN", nil, "template", "kyklos", chartReference(), "--version", chartVersion, "--plain-http", "--namespace", "kyklos-system")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("helm package (-) and the release (+):\n%s", diff)
	}
	if !strings.Contains(got, "image: "+repository()+"/kyklos@"+digest+"\n") {
		t.Errorf("the image %s is not rendered", digest)
	}
	if lint := tool(t, "HELM_BIN", nil, "lint", "--strict", pulled); strings.Contains(lint, "[WARNING]") || strings.Contains(lint, "[INFO]") {
		t.Error(lint)
	}
	shown := tool(t, "HELM_BIN", nil, "show", "chart", chartReference(), "--version", chartVersion, "--plain-http")
	for _, line := range []string{"version: " + chartVersion, "appVersion: " + chartVersion, "home: https://pkg.go.dev/kyklos.io/kyklos", "icon: https://example.com/" + version + "/kyklos.svg"} {
		if !strings.Contains(shown, line+"\n") {
			t.Errorf("no %q in\n%s", line, shown)
		}
	}
}

func packedIndexDigest() (string, error) {
	p, err := readPacked(released)
	if err != nil {
		return "", err
	}
	digest, err := p.statement.digestOf(imageName)
	return "sha256:" + digest, err
}

func copyFolder(t *testing.T, to, from string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// The chart installs from the registry, on a real API server. Pods are simulated, so nothing pulls the image.
func TestInstallFromRegistry(t *testing.T) {
	kubeconfig := "KUBECONFIG=" + startCluster(t)
	tool(t, "HELM_BIN", []string{kubeconfig}, "install", "kyklos", chartReference(), "--version", chartVersion, "--plain-http",
		"--namespace", "kyklos-system", "--create-namespace", "--set", "certificates.mode=self-managed", "--wait")
	digest, err := packedIndexDigest()
	if err != nil {
		t.Fatal(err)
	}
	kubectl := func(args ...string) string {
		return tool(t, "DEVCLUSTER_BIN", []string{kubeconfig}, append([]string{"kubectl"}, args...)...)
	}
	image := kubectl("-n", "kyklos-system", "get", "pods", "-o", "jsonpath={.items[*].spec.containers[*].image}")
	if want := repository() + "/kyklos@" + digest; image != want+" "+want {
		t.Errorf("the pods have the images %q, want %s twice", image, want)
	}
	kubectl("get", "timewindowscalers,workspaces", "-A")
}

// startCluster brings up a control plane for the test and returns its kubeconfig.
func startCluster(t *testing.T) (kubeconfig string) {
	t.Helper()
	binary := os.Getenv("DEVCLUSTER_BIN")
	if binary == "" {
		t.Skip("DEVCLUSTER_BIN is not set: make test-release does")
	}
	cluster := exec.Command(binary, "up", "--dir", t.TempDir(), "--exit-with-stdin")
	stdin, err := cluster.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cluster.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cluster.Wait() // it is stopped by its end of input
	})
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if path, ok := strings.CutPrefix(lines.Text(), "devcluster is ready: KUBECONFIG="); ok {
			return path
		}
	}
	t.Fatal("the control plane did not come up")
	return ""
}
