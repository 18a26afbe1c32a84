package soak

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness/fixtures"
)

// operate is the operator of Widgets: it reports that they have their replicas.
func (s *soak) operate(ctx context.Context) {
	for ctx.Err() == nil {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(fixtures.Widgets.APIVersion)
		list.SetKind("WidgetList")
		if s.client.List(ctx, list) == nil {
			for i := range list.Items {
				s.follow(ctx, &list.Items[i])
			}
			s.followAll(ctx, list)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// followAll follows the Widgets until their watch ends.
func (s *soak) followAll(ctx context.Context, list *unstructured.UnstructuredList) {
	watch, err := s.client.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
	if err != nil {
		return
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		if widget, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != "DELETED" && event.Type != "ERROR" {
			s.follow(ctx, widget)
		}
	}
}

func (s *soak) follow(ctx context.Context, widget *unstructured.Unstructured) {
	want, _, _ := unstructured.NestedInt64(widget.Object, "spec", "replicas")
	have, there, _ := unstructured.NestedInt64(widget.Object, "status", "replicas")
	if !there || have != want {
		_ = s.client.Status().Patch(ctx, widget, merge(`{"status":{"replicas":%d}}`, want))
	}
}
