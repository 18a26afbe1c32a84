package lint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/lint/policy"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/config/crd"
)

// canary is enforced once all policies before it are.
const canary = `
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: canary}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps], resourceNames: [canary]}]
  validations: [{expression: "false"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: canary}
spec: {policyName: canary, validationActions: [Deny]}
`

// warnings are those of policies that the API server gave last.
type warnings struct {
	sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.Lock()
	defer w.Unlock()
	if strings.HasPrefix(text, "Validation failed for ValidatingAdmissionPolicy") {
		w.texts = append(w.texts, text)
	}
}

// policedServer is the API server with the policies, as a client that collects its warnings.
type policedServer struct {
	*dynamic.DynamicClient
	warnings
}

func newPolicedServer(t *testing.T, namespaces, given string) *policedServer {
	t.Helper()
	server := &policedServer{}
	config := rest.CopyConfig(cluster.Config)
	config.WarningHandler = server
	var err error
	if server.DynamicClient, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := cluster.Apply(ctx, namespaces); err != nil {
		t.Fatal(err)
	}
	for name, c := range policed { // before the policies, which would have a say
		if c.old != "" {
			if err := cluster.Apply(ctx, c.old); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	t.Cleanup(func() { // other tests have no such rules
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		if _, stderr, err := cluster.Kubectl(ctx, "", "delete", "validatingadmissionpolicybindings,validatingadmissionpolicies", "--all"); err != nil {
			t.Error(err, stderr)
		}
	})
	if err := cluster.Apply(ctx, given); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Apply(ctx, canary); err != nil {
		t.Fatal(err)
	}
	bird := parsed(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: canary, namespace: elsewhere}\n")
	if err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		return server.ask(ctx, bird, nil) != nil, nil
	}); err != nil {
		t.Fatal("the policies are not enforced: ", err)
	}
	return server
}

// ask is why the API server refuses the object, if it does.
func (s *policedServer) ask(ctx context.Context, object, old *manifest.Object) error {
	s.texts = nil
	gvk := object.GroupVersionKind()
	resource := gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s")
	client := s.Resource(resource).Namespace(object.Namespace())
	dryRun := []string{metav1.DryRunAll}
	if old == nil {
		_, err := client.Create(ctx, object.Unstructured(), metav1.CreateOptions{DryRun: dryRun})
		return err
	}
	for { // the manager writes to it too
		stored, err := client.Get(ctx, old.Name(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		asked := object.Unstructured().DeepCopy()
		asked.SetResourceVersion(stored.GetResourceVersion())
		if _, err = client.Update(ctx, asked, metav1.UpdateOptions{DryRun: dryRun}); !apierrors.IsConflict(err) {
			return err
		}
	}
}

func parsed(t *testing.T, text string) *manifest.Object {
	t.Helper()
	objects, problems := manifest.Parse(&manifest.File{Name: "object.yaml", Data: []byte(text)})
	if len(objects) != 1 || len(problems) > 0 {
		t.Fatal(objects, problems)
	}
	return objects[0]
}

var spoke = regexp.MustCompile(`^(Validation failed for )?ValidatingAdmissionPolicy '[^']*' with binding '([^']*)'`)

// What policies say without an API server is literally what a server with them says. Where several deny a request, it names one.
func TestPolicies(t *testing.T) {
	withKyklos(t)
	texts, objects := map[string]string{}, []*manifest.Object{}
	for _, name := range []string{"namespaces.yaml", "policies.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata/policies", name))
		if err != nil {
			t.Fatal(err)
		}
		found, problems := manifest.Parse(&manifest.File{Name: name, Data: text})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		texts[name], objects = string(text), append(objects, found...)
	}
	policies, err := policy.Load(objects, nil)
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := apiserver.New(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	server := newPolicedServer(t, texts["namespaces.yaml"], texts["policies.yaml"])
	for name, c := range policed {
		t.Run(name, func(t *testing.T) {
			request := policy.Request{Object: parsed(t, c.object)}
			request.New = defaulted(t, definitions, request.Object, nil)
			var old *manifest.Object
			if c.old != "" {
				old = parsed(t, c.old)
				request.Old = defaulted(t, definitions, old, nil)
				request.New = defaulted(t, definitions, request.Object, old)
			}
			var denied, warned, said []string
			for _, f := range policies.Evaluate(t.Context(), request) {
				action, by := "deny", spoke.FindStringSubmatch(f.Message)
				if by == nil {
					t.Fatalf("not an API server's message: %s", f.Message)
				}
				if f.Severity == lint.Error {
					denied = append(denied, f.Message)
				} else {
					action, warned = "warn", append(warned, f.Message)
				}
				said = append(said, action+" "+by[2])
			}
			slices.Sort(said)
			if diff := cmp.Diff(c.want, said); diff != "" {
				t.Error("without an API server: ", diff)
			}
			refusal := server.ask(t.Context(), request.Object, old)
			if err := agree(refusal, denied); err != nil {
				t.Error(err)
			}
			slices.Sort(warned)
			slices.Sort(server.texts)
			if diff := cmp.Diff(server.texts, warned); diff != "" {
				t.Errorf("warnings (-API server +here): %s", diff)
			}
		})
	}
}

// defaulted is the object as the API server holds it; a built-in kind is as it is.
func defaulted(t *testing.T, definitions *apiserver.Server, object, old *manifest.Object) map[string]any {
	t.Helper()
	if !definitions.Knows(object.GroupVersionKind()) {
		return object.Object
	}
	verdict := definitions.Create(object, manifest.Default)
	if old != nil {
		verdict = definitions.Update(old, object, manifest.Default)
	}
	if len(verdict.Errors) > 0 {
		t.Fatal(verdict.Errors)
	}
	return verdict.Object
}

// agree compares an API server's refusal with the messages here.
func agree(refusal error, denied []string) error {
	_, message, byPolicy := strings.Cut(fmt.Sprint(refusal), " is forbidden: ")
	switch {
	case refusal != nil && !byPolicy && !apierrors.IsAlreadyExists(refusal):
		return fmt.Errorf("the API server refuses it for another reason: %w", refusal)
	case byPolicy && !slices.Contains(denied, message), !byPolicy && len(denied) > 0:
		return fmt.Errorf("the API server says %q, here it is %q", message, denied)
	}
	return nil
}
