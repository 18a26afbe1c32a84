package gitops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// application is an Application of Argo CD.
type application struct {
	*scenario
	name string
}

// change changes the sample Application for teams.
type change func(object map[string]any)

// create creates an Application of the folder with its name in Git: config/argocd/applications/shop.yaml with changes,
// its own source, and faster retries.
func (w *scenario) create(name string, changes ...change) *application {
	w.Helper()
	a := &application{scenario: w, name: name}
	a.set(changes...)
	w.Cleanup(a.forget)
	return a
}

// forget deletes the Application. It has no finalizer, so its objects stay.
func (a *application) forget() {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("argoproj.io/v1alpha1")
	object.SetKind("Application")
	object.SetNamespace("argocd")
	object.SetName(a.name)
	a.Must(client.IgnoreNotFound(a.Client.Delete(context.WithoutCancel(a.Context()), object)))
}

// set makes the Application the sample with these changes, as kubectl apply would.
func (a *application) set(changes ...change) {
	a.Helper()
	content, err := os.ReadFile("config/argocd/applications/shop.yaml")
	a.Must(err)
	object := &unstructured.Unstructured{}
	a.Must(yaml.Unmarshal(content, &object.Object))
	object.SetName(a.name)
	for _, change := range append(changes,
		put(a.git.url, "spec", "source", "repoURL"), put(a.name, "spec", "source", "path"),
		put(a.name, "spec", "destination", "namespace"), put("1s", "spec", "syncPolicy", "retry", "backoff", "duration")) {
		change(object.Object)
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(object.GroupVersionKind())
		err := a.Client.Get(a.Context(), client.ObjectKeyFromObject(object), live)
		if apierrors.IsNotFound(err) {
			return a.Client.Create(a.Context(), object.DeepCopy())
		}
		live.Object["spec"] = object.Object["spec"]
		if err != nil {
			return err
		}
		return a.Client.Update(a.Context(), live)
	})
	a.Must(err)
}

// put sets a field.
func put(value any, path ...string) change {
	return func(object map[string]any) {
		if err := unstructured.SetNestedField(object, value, path...); err != nil {
			panic(err)
		}
	}
}

// without removes a field.
func without(path ...string) change {
	return func(object map[string]any) { unstructured.RemoveNestedField(object, path...) }
}

// options sets the sync options, in place of RespectIgnoreDifferences=true.
func options(options ...any) change { return put(options, "spec", "syncPolicy", "syncOptions") }

const respect = "RespectIgnoreDifferences=true"

// ignoring ignores what the rule matches in Deployments, instead of /spec/replicas.
func ignoring(rule map[string]any) change {
	rule["group"], rule["kind"] = "apps", "Deployment"
	return put([]any{rule}, "spec", "ignoreDifferences")
}

func (a *application) read() *unstructured.Unstructured {
	a.Helper()
	return a.object("argoproj.io/v1alpha1", "Application", "argocd", a.name)
}

// refresh makes Argo CD compare the application again, and waits for it.
func (a *application) refresh(kind string) {
	a.Helper()
	const annotation = "argocd.argoproj.io/refresh"
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, annotation, kind)
	a.Must(a.Client.Patch(a.Context(), a.read(), client.RawPatch("application/merge-patch+json", []byte(patch))))
	a.Eventually("the refresh of "+a.name, func() error {
		if _, waits := a.read().GetAnnotations()[annotation]; waits {
			return errors.New("it was not compared")
		}
		return nil
	})
}

// view is what Argo CD shows of an application.
type view struct {
	Sync, Health, Revision string
	// Phase, Message and Started are those of the last operation.
	Phase, Message, Started string
}

func viewOf(object *unstructured.Unstructured) view {
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(object.Object, append([]string{"status"}, path...)...)
		return value
	}
	return view{
		Sync: text("sync", "status"), Health: text("health", "status"), Revision: text("sync", "revision"),
		Phase: text("operationState", "phase"), Message: text("operationState", "message"), Started: text("operationState", "startedAt"),
	}
}

// awaits waits until Argo CD shows the wanted view.
func (a *application) awaits(what string, wanted func(view) bool) view {
	a.Helper()
	var shown view
	a.Eventually(what+" of "+a.name, func() error {
		object := a.read()
		if shown = viewOf(object); wanted(shown) {
			return nil
		}
		conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		resources, _, _ := unstructured.NestedSlice(object.Object, "status", "resources")
		return fmt.Errorf("got %+v, %v, %v", shown, conditions, resources)
	})
	return shown
}

// settles waits until the commit is synced and healthy.
func (a *application) settles(revision string) view {
	a.Helper()
	a.refresh("normal")
	return a.awaits("Synced and Healthy", func(v view) bool {
		return v.Sync == "Synced" && v.Health == "Healthy" && v.Revision == revision && v.Phase == "Succeeded"
	})
}

// pushes commits files and waits until they are synced and healthy.
func (a *application) pushes(files map[string]string) view {
	a.Helper()
	a.git.write(files)
	return a.settles(a.git.push())
}

// record is what a watch has seen, without consecutive duplicates.
type record[T comparable] struct {
	mu   sync.Mutex
	seen []T
}

func (r *record[T]) add(value T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) == 0 || r.seen[len(r.seen)-1] != value {
		r.seen = append(r.seen, value)
	}
}

func (r *record[T]) all() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

// follow records a property of an object until the test ends.
func follow[T comparable](w *scenario, apiVersion, kind, namespace, name string, what func(*unstructured.Unstructured) T) *record[T] {
	w.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(apiVersion)
	list.SetKind(kind + "List")
	events, err := w.Client.Watch(w.Context(), list, client.InNamespace(namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{FieldSelector: "metadata.name=" + name}})
	w.Must(err)
	w.Cleanup(events.Stop)
	r := &record[T]{}
	go func() {
		for event := range events.ResultChan() {
			if object, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != watch.Deleted {
				r.add(what(object))
			}
		}
	}()
	return r
}

// followReplicas records a Deployment's spec.replicas.
func (w *scenario) followReplicas(namespace, name string) *record[int64] {
	w.Helper()
	return follow(w, "apps/v1", "Deployment", namespace, name, func(object *unstructured.Unstructured) int64 {
		replicas, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
		return replicas
	})
}

// followViews records what Argo CD shows, without the messages of operations.
func (a *application) followViews() *record[view] {
	a.Helper()
	return follow(a.scenario, "argoproj.io/v1alpha1", "Application", "argocd", a.name, func(object *unstructured.Unstructured) view {
		v := viewOf(object)
		v.Message, v.Phase = "", ""
		return v
	})
}
