package behaviour_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Links to the binary are the programs they are named after; envtest expects exactly these names.
func TestLinksAreTheProgramsTheyName(t *testing.T) {
	path, err := binary()
	must(t, err)
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"devcluster", []string{"version"}, "Kubernetes v1.37.2, etcd v3.7.0"},
		{"kubectl", []string{"version", "--client"}, "Client Version: v1.37.2"},
		{"etcd", []string{"--version"}, "etcd Version: 3.7.0"},
		{"kube-apiserver", []string{"--version"}, "Kubernetes v1.37.2"},
	} {
		link := filepath.Join(dir, c.name)
		must(t, os.Symlink(path, link))
		byLink, err := exec.Command(link, c.args...).CombinedOutput()
		if err != nil || !strings.Contains(string(byLink), c.want) {
			t.Errorf("%s %v: %v, output %q; want %q", c.name, c.args, err, byLink, c.want)
		}
		if c.name == "devcluster" {
			continue
		}
		byArgument, err := exec.Command(path, append([]string{c.name}, c.args...)...).CombinedOutput()
		if err != nil || string(byArgument) != string(byLink) {
			t.Errorf("devcluster %s: %v, output %q; as a link %q", c.name, err, byArgument, byLink)
		}
	}
}

func TestKubectlIsWhole(t *testing.T) {
	c, ns := everyones(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"kustomization.yaml": "resources: [map.yaml]\nnamePrefix: made-\n",
		"map.yaml":           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\ndata: {key: value}\n",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, c1 := range []struct{ args, want string }{
		{"kustomize " + dir, "name: made-map"},
		{"apply -n " + ns + " -k " + dir, "configmap/made-map created"},
		{"apply -n " + ns + " --server-side --field-manager=second -k " + dir, "serverside-applied"},
		{"get -n " + ns + " configmap made-map -o jsonpath={.data.key}", "value"},
		{"explain deployment.spec.replicas", "FIELD: replicas <integer>"},
		{"auth can-i delete nodes", "yes"},
	} {
		if out := c.kubectl(t, strings.Fields(c1.args)...); !strings.Contains(out, c1.want) {
			t.Errorf("kubectl %s: %q, want %q", c1.args, out, c1.want)
		}
	}
}

func TestWrongUseSaysWhatWouldBeRight(t *testing.T) {
	path, err := binary()
	must(t, err)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"up"}, "--dir is required"},
		{[]string{"up", "--dir", t.TempDir(), "--apiserver-arg=--no-such-flag"}, "--apiserver-arg"},
		{[]string{"down"}, `unknown command "down"`},
	} {
		out, err := exec.Command(path, c.args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("devcluster %v: %v, output %q; want an error with %q", c.args, err, out, c.want)
		}
	}
}
