// Package gitops tests Kyklos with Argo CD: the Lua scripts with Argo CD's interpreter, and Kyklos and its targets under a
// real Argo CD, built from its released module, that syncs them from a Git repository.
package gitops

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// argoCD is the path of Argo CD. Building it takes minutes, so the tests that need it are skipped without it;
// `make test-argocd` builds it and sets the variable.
var argoCD = os.Getenv("ARGOCD_BIN")

// All paths are below the repository's root.
func TestMain(m *testing.M) {
	harness.RunTests(m, func(context.Context, *harness.Suite) error {
		root, err := harness.Root()
		if err != nil {
			return err
		}
		return os.Chdir(root)
	})
}

// startArgoCD runs Argo CD, with its released manifests and Kyklos's patch, until the test ends.
func startArgoCD(t *scenario) {
	t.Helper()
	installArgoCD(t)
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	t.Must(err)
	cmd := exec.Command(argoCD, "--kubeconfig", t.Cluster.Kubeconfig)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "KUBECONFIG=" + t.Cluster.Kubeconfig, "TMPDIR=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"ARGOCD_FAKE_IN_CLUSTER=true", "ARGOCD_GPG_ENABLED=false", "ARGOCD_SYNC_WAVE_DELAY=0",
		"ARGOCD_TLS_DATA_PATH=" + dir, "ARGOCD_SSH_DATA_PATH=" + dir, "ARGOCD_ASK_PASS_SOCK=" + filepath.Join(dir, "ask"),
	}
	stdin, err := cmd.StdinPipe() // it ends with this process, whatever happens
	t.Must(err)
	t.Must(cmd.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
		if content, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("Argo CD logged:\n%s", content[max(0, len(content)-8000):])
		}
	})
}

// installArgoCD applies what Argo CD needs on the cluster.
func installArgoCD(t *scenario) {
	t.Helper()
	find := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-cd/v3")
	find.Dir = "test/platform/argocd"
	output, err := find.Output()
	if err != nil {
		t.Fatalf("find the manifests of Argo CD: %v", err)
	}
	manifests := filepath.Join(strings.TrimSpace(string(output)), "manifests")
	for _, name := range []string{"application", "appproject"} {
		t.Kubectl("", "apply", "--server-side", "-f", filepath.Join(manifests, "crds", name+"-crd.yaml"))
	}
	t.Kubectl("", "create", "namespace", "argocd")
	for _, name := range []string{"argocd-cm", "argocd-rbac-cm", "argocd-secret"} {
		t.Kubectl("", "apply", "--namespace=argocd", "-f", filepath.Join(manifests, "base", "config", name+".yaml"))
	}
	t.Kubectl("", "patch", "secret", "argocd-secret", "--namespace=argocd", "-p", `{"stringData":{"server.secretkey":"none"}}`)
	// As config/argocd/argocd-cm.yaml says.
	t.Kubectl("", "--namespace", "argocd", "patch", "configmap", "argocd-cm", "--patch-file", "config/argocd/argocd-cm.yaml")
	t.Kubectl("", "wait", "--for=condition=Established", "--timeout=5m", "crd/applications.argoproj.io", "crd/appprojects.argoproj.io")
	t.Kubectl(anyProject, "apply", "-f", "-")
}

// anyProject is the project that Argo CD's server makes when it starts for the first time.
const anyProject = `
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata:
  name: default
  namespace: argocd
spec:
  sourceRepos: ["*"]
  destinations: [{server: "*", namespace: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
`

// repository is a bare Git repository that Argo CD reads, and its work tree.
type repository struct {
	*testing.T
	url, tree string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	dir := t.TempDir()
	r := &repository{T: t, url: "file://" + filepath.Join(dir, "bare.git"), tree: filepath.Join(dir, "tree")}
	r.git(dir, "init", "--quiet", "--bare", "--initial-branch=main", "bare.git")
	r.git(dir, "clone", "--quiet", "bare.git", "tree")
	return r
}

// write puts files, by path, in place of those that are there; an empty one is taken away. push makes them
// known.
func (r *repository) write(files map[string]string) {
	r.Helper()
	for path, content := range files {
		path = filepath.Join(r.tree, path)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil && content == "" {
			err = os.Remove(path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		harness.Must(r, err)
	}
}

// push commits what was written and returns the commit.
func (r *repository) push() string {
	r.Helper()
	r.git(r.tree, "add", "--all")
	r.git(r.tree, "commit", "--quiet", "--allow-empty", "-m", "Change what is wanted")
	r.git(r.tree, "push", "--quiet", "origin", "HEAD:main")
	return strings.TrimSpace(r.git(r.tree, "rev-parse", "HEAD"))
}

func (r *repository) git(dir string, args ...string) string {
	r.Helper()
	cmd := exec.CommandContext(r.Context(), "git", append([]string{"-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	output, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, output)
	}
	return string(output)
}
