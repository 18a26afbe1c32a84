package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/util/cert"

	"kyklos.io/kyklos/test/harness"
)

// stubs are cert-manager's definitions without its controllers. The commands see the same API. test/e2e/webhooks has the
// real cert-manager.
const stubs = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[2]ss.cert-manager.io
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: %[1]s, plural: %[2]ss, singular: %[2]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
---
`

// The commands of the page on certificates switch between the modes, and no apply changes a caBundle.
func TestCertificateCommands(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cluster := harness.StartFor(t)
	sh := newShell(t, cluster)
	definitions := fmt.Sprintf(stubs, "Certificate", "certificate") + fmt.Sprintf(stubs, "Issuer", "issuer")
	if _, _, err := cluster.Kubectl(ctx, definitions, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	sh.run("kubectl wait --for=condition=Established crd --all --timeout=5m")
	sh.run("kubectl apply --server-side -k config/overlays/self-managed")
	own := strings.Split(section(readText(t, "docs/certificates.md"), "## A PKI of your own"), "\n```console\n")
	publish := shown(t, own[2])
	sh.run(publish) // as self-managed certificates would

	const bundles = "kubectl get crd,mutatingwebhookconfiguration,validatingwebhookconfiguration -o " +
		`jsonpath='{..caBundle}{" "}{.items[*].metadata.annotations.cert-manager\.io/inject-ca-from}'`
	const args = `kubectl get deployment kyklos-manager -n kyklos-system -o jsonpath='{..containers[0].args}'`
	published := strings.TrimSpace(sh.run(bundles))
	if count := len(strings.Fields(published)); count != 6 {
		t.Fatalf("%d caBundles, want 6: %s", count, published)
	}
	for _, step := range []struct{ heading, args, annotations, gone string }{
		{"## From self-managed to cert-manager", `["manager","--webhook-cert-dir=/etc/kyklos/webhook-cert"]`, strings.Repeat(" kyklos-system/kyklos-webhook", 3),
			"kubectl get clusterrole,clusterrolebinding,role,rolebinding -A -o name | grep kyklos-manager-certificates || true"},
		{"## From cert-manager to self-managed", `["manager"]`, "", "kubectl get certificates,issuers -A -o name"},
		{"## A PKI of your own", `["manager","--webhook-cert-dir=/etc/kyklos/webhook-cert"]`, "", "true"},
	} {
		sh.run(shown(t, section(readText(t, "docs/certificates.md"), step.heading)))
		if got := sh.run(args); got != step.args {
			t.Errorf("%s: the manager is started with %s, want %s", step.heading, got, step.args)
		}
		if got := strings.TrimSpace(sh.run(bundles)); got != published+step.annotations {
			t.Errorf("%s: the caBundles and annotations are\n%s\nwant\n%s", step.heading, got, published+step.annotations)
		}
		if left := sh.run(step.gone); left != "" {
			t.Errorf("%s: left behind: %s", step.heading, left)
		}
	}
}

// shown returns the commands with a prompt in a part of a page.
func shown(t *testing.T, part string) string {
	t.Helper()
	var commands []string
	for _, match := range regexp.MustCompile(`(?m)^ *\$ (.*)$`).FindAllStringSubmatch(part, -1) {
		commands = append(commands, match[1])
	}
	if len(commands) == 0 {
		t.Fatalf("no commands in\n%s", part)
	}
	return strings.Join(commands, "\n")
}

// shell runs commands in a folder with config and the files of a certificate.
type shell struct {
	*testing.T
	dir, kubeconfig, bin string
}

func newShell(t *testing.T, cluster *harness.Cluster) *shell {
	t.Helper()
	kubectl, err := harness.Binary("kubectl")
	harness.Must(t, err)
	sh := &shell{T: t, dir: t.TempDir(), kubeconfig: cluster.Kubeconfig, bin: filepath.Dir(kubectl)}
	config, err := filepath.Abs(filepath.Join(root, "config"))
	harness.Must(t, err)
	harness.Must(t, os.Symlink(config, filepath.Join(sh.dir, "config")))
	certificate, key, err := cert.GenerateSelfSignedCertKey("kyklos-webhook.kyklos-system.svc", nil, nil)
	harness.Must(t, err)
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key, "ca.crt": certificate} {
		harness.Must(t, os.WriteFile(filepath.Join(sh.dir, name), content, 0o600))
	}
	return sh
}

// run returns the output of commands that must succeed.
func (sh *shell) run(commands string) string {
	sh.Helper()
	cmd := exec.CommandContext(sh.Context(), "sh", "-euc", commands)
	cmd.Dir = sh.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+sh.kubeconfig, "PATH="+sh.bin+":"+os.Getenv("PATH"))
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		sh.Fatalf("%s\n%s%s%v", commands, out, complaint.String(), err)
	}
	return string(out)
}
