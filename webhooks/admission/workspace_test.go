package admission

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/internal/targetkind"
)

func source(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// workspaces is the validator in a cluster with these objects.
func workspaces(t *testing.T, broken interceptor.Funcs, served, janeLacks []string, objects ...client.Object) *admission.Webhook {
	s := scheme(t)
	live := fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithInterceptorFuncs(broken).Build()
	return admission.WithValidator(s, newWorkspaceValidator(workspaceReader{live: live, reviews: reviews{janeLacks: janeLacks}, namespaces: served}))
}

func TestWorkspaceValidatorGathersFacts(t *testing.T) {
	store := &corev1.Secret{ObjectMeta: named("store")}
	pod, volume := &corev1.Pod{ObjectMeta: named("ws-dev")}, &corev1.PersistentVolumeClaim{ObjectMeta: named("ws-dev-home")}
	left := volume.DeepCopy() // by a deleted Workspace of this name
	left.Labels, left.Annotations = map[string]string{"kyklos.io/workspace": "dev", "kyklos.io/workspace-uid": "u-9"}, map[string]string{"kyklos.io/home-content": "Restored"}
	labelled := left.DeepCopy() // by somebody else
	delete(labelled.Labels, "kyklos.io/workspace-uid")
	elsewhere := volume.DeepCopy()
	elsewhere.Namespace = "back"
	broken := interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("the store of the API server is away")
	}}
	edit := func(from, to string) string { return strings.Replace(home, from, to, 1) }
	const missing, foreign = `Secret "store" does not exist in this namespace`, "was not created for this Workspace"
	for name, tc := range map[string]struct {
		webhook  *admission.Webhook
		obj, old string
		warnings []string
		result   string
	}{
		"nothing to say":          {workspaces(t, interceptor.Funcs{}, nil, nil, store, elsewhere), home, "", nil, "create allowed"},
		"no store":                {workspaces(t, interceptor.Funcs{}, nil, nil), home, "", []string{missing}, "create warned"},
		"no store, on update":     {workspaces(t, interceptor.Funcs{}, nil, nil), edit(`"pause":false`, `"pause":true`), home, []string{missing}, "update warned"},
		"no archive":              {workspaces(t, interceptor.Funcs{}, nil, nil), edit(`"archive":{"storeRef":{"name":"store"},"retain":1},`, ``), "", nil, "create allowed"},
		"strangers":               {workspaces(t, interceptor.Funcs{}, nil, nil, store, pod, volume), home, "", []string{foreign, foreign}, "create warned"},
		"a home left behind":      {workspaces(t, interceptor.Funcs{}, nil, nil, store, left), home, "", nil, "create allowed"},
		"labels like a home's":    {workspaces(t, interceptor.Funcs{}, nil, nil, store, labelled), home, "", []string{foreign}, "create warned"},
		"one that is not wanted":  {workspaces(t, interceptor.Funcs{}, nil, nil, store, left), edit(`"pause":false`, `"pause":false,"restoreFrom":"empty"`), "", []string{foreign}, "create warned"},
		"its own, later":          {workspaces(t, interceptor.Funcs{}, nil, nil, store, pod, volume), edit(`"pause":false`, `"pause":true`), home, nil, "update allowed"},
		"a name to be made up":    {workspaces(t, interceptor.Funcs{}, nil, nil, store), edit(`"name":"dev"`, `"generateName":"dev-"`), "", nil, "create allowed"},
		"nothing can be read":     {workspaces(t, broken, nil, nil), home, "", nil, "create allowed"},
		"not served":              {workspaces(t, interceptor.Funcs{}, []string{"back"}, nil), home, "", []string{"nothing happens here"}, "create warned"},
		"served":                  {workspaces(t, interceptor.Funcs{}, []string{"back", "shop"}, nil, store), home, "", nil, "create allowed"},
		"labels alone":            {workspaces(t, broken, nil, nil), edit(`"name":"dev"`, `"name":"dev","labels":{"a":"b"}`), home, nil, ""},
		"a change while it goes":  {workspaces(t, interceptor.Funcs{}, nil, nil), strings.Replace(edit(`"pause":false`, `"pause":true`), `"name":"dev"`, `"name":"dev","deletionTimestamp":"2026-11-21T09:00:00Z"`, 1), home, nil, ""},
		"amounts that are number": {workspaces(t, interceptor.Funcs{}, nil, nil, store), sized(`{"limits":{"cpu":2}}`), "", nil, "create allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			response, result := handle(t, tc.webhook, request(tc.obj, tc.old))
			if result != tc.result || !response.Allowed {
				t.Errorf("counted as %q, want %q; response %v", result, tc.result, response.Result)
			}
			warns(t, response, tc.warnings)
		})
	}
}

// A Workspace in a namespace without Workspaces gets a warning with the flag, and nothing is read there.
func TestWorkspaceValidatorKnowsItsScope(t *testing.T) {
	s := scheme(t)
	live := fake.NewClientBuilder().WithScheme(s).WithInterceptorFuncs(interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		t.Error("read without permission")
		return nil
	}}).Build()
	webhook := admission.WithValidator(s, newWorkspaceValidator(workspaceReader{live: live, scope: targetkind.Scope{Namespaces: []string{"back"}}}))
	response, result := handle(t, webhook, request(home, ""))
	if result != "create warned" || !response.Allowed {
		t.Errorf("counted as %q: %v", result, response.Result)
	}
	warns(t, response, []string{"(flag --workspace-namespaces): nothing happens here"})
}

func TestWorkspaceValidatorLetsDeletionsPass(t *testing.T) {
	req := request("", home)
	req.Operation = admissionv1.Delete
	if response, result := handle(t, workspaces(t, interceptor.Funcs{}, nil, nil), req); !response.Allowed || result != "" {
		t.Errorf("%q %v", result, response.Result)
	}
}
