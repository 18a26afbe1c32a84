package workspaceidle

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// The cache is never enough to lower.
func TestALateCache(t *testing.T) {
	s := newStage(t, workspace("RUNNING", noon.Add(-time.Hour)))
	stale := s.read()
	s.reconciler.Client = interceptor.NewClient(s.reconciler.Client.(client.WithWatch), interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			stale.DeepCopyInto(obj.(*v1alpha1.Workspace))
			return nil
		},
	})
	s.change(func(ws *v1alpha1.Workspace) { ws.Status.RunningSince = ptr.To(metav1.NewTime(noon)) })
	s.passAfter(0)
	s.desires("RUNNING", 0, 1)
	s.must(s.Delete(t.Context(), s.read()))
	s.passAfter(time.Hour) // no error
}
