package workspace

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// A cache that never shows new objects only causes delay.
func TestACacheThatIsBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace())
	w.r.Client = blinded{w.r.Client}
	w.converge()
	w.expectState("RUNNING")
	w.write("work")
	uid := w.pvc().UID
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	w.expectState("ARCHIVED")
	w.desire(v1alpha1.DesiredStandby)
	w.converge()
	w.expectState("STANDBY")
	w.expectContent("work")
	if w.pvc().UID == uid {
		t.Error("the home was never archived")
	}
}

// blinded is a cache that has only Workspaces.
type blinded struct{ client.Client }

func (b blinded) Get(ctx context.Context, key types.NamespacedName, object client.Object, options ...client.GetOption) error {
	if _, ok := object.(*v1alpha1.Workspace); ok {
		return b.Client.Get(ctx, key, object, options...)
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func (b blinded) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }
