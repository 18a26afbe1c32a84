package api

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"kyklos.io/kyklos/test/harness"
)

// next returns the next object of a watch.
func next(t *testing.T, ctx context.Context, w watch.Interface) *unstructured.Unstructured {
	t.Helper()
	for {
		select {
		case event := <-w.ResultChan():
			if event.Type == watch.Bookmark {
				continue
			}
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				t.Fatalf("the watch brought %+v", event)
			}
			return object
		case <-ctx.Done():
			t.Fatal("the watch brought nothing")
		}
	}
}

// A watch in either version gets each write in either version as a read shows it.
func TestWatchInBothVersions(t *testing.T) {
	ns := newNamespace(t)
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	created := create(t, ns, rich)
	for _, watched := range []string{"v1alpha1", "v1beta1"} {
		w, err := in(watched, ns).Watch(ctx, metav1.ListOptions{ResourceVersion: created.GetResourceVersion()})
		harness.Must(t, err)
		for i, written := range []string{"v1alpha1", "v1beta1"} {
			patch(t, written, ns, "rich", types.MergePatchType, fmt.Sprintf(`{"metadata":{"labels":{"seen":"%s-%d"}}}`, watched, i))
			seen := next(t, ctx, w)
			for seen.GetLabels()["seen"] != fmt.Sprintf("%s-%d", watched, i) {
				seen = next(t, ctx, w) // of the manager's status
			}
			read := get(t, watched, ns, "rich")
			if diff := cmp.Diff(spec(read), spec(seen)); diff != "" || hasPayload(seen) != (watched == "v1alpha1") {
				t.Errorf("written as %s (-read +watched)\n%s", written, diff)
			}
		}
		w.Stop()
	}
}

// Both versions list the same objects, each in its own form.
func TestListInBothVersions(t *testing.T) {
	ns := newNamespace(t)
	for i := range 20 {
		object := parse(t, []string{plain, rich}[i%2])
		object.SetName(fmt.Sprintf("scaler-%02d", i))
		spec(object)["targetRef"].(map[string]any)["name"] = object.GetName()
		_, version := versionOf(object)
		_, err := in(version, ns).Create(t.Context(), object, metav1.CreateOptions{})
		harness.Must(t, err)
	}
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		list, err := in(version, ns).List(t.Context(), metav1.ListOptions{})
		harness.Must(t, err)
		if len(list.Items) != 20 {
			t.Errorf("%s lists %d objects", version, len(list.Items))
		}
		for i := range list.Items {
			item := &list.Items[i]
			if carries := version == "v1alpha1" && i%2 == 1; item.GetAPIVersion() != "kyklos.io/"+version || hasPayload(item) != carries {
				t.Errorf("%s lists %v", version, item.Object)
			}
		}
	}
}
