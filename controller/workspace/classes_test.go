package workspace

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// If storage classes cannot be read, none is requested, and a pending volume is assumed to wait for a Pod
// (D19); otherwise a class is read once.
func TestBindsLate(t *testing.T) {
	for name, tc := range map[string]struct {
		mode      storagev1.VolumeBindingMode
		noClasses bool
		want      bool
		reads     int
	}{
		"binds late":       {mode: storagev1.VolumeBindingWaitForFirstConsumer, want: true, reads: 1},
		"binds at once":    {mode: storagev1.VolumeBindingImmediate, want: false, reads: 1},
		"cannot be read":   {mode: storagev1.VolumeBindingImmediate, noClasses: true, want: true},
		"late, and unread": {mode: storagev1.VolumeBindingWaitForFirstConsumer, noClasses: true, want: true},
	} {
		reads := 0
		reader := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
			Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
				class, ok := object.(*storagev1.StorageClass)
				if !ok || key.Name != "fast" {
					return errors.New("asked for something else")
				}
				reads++
				*class = storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, VolumeBindingMode: &tc.mode}
				return nil
			},
		}).Build()
		r := &Reconciler{APIReader: reader, NoClasses: tc.noClasses}
		claim := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: ptr.To("fast")}}
		for range 2 {
			if got, missing, err := r.bindsLate(t.Context(), claim); got != tc.want || missing != "" || err != nil {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
		if reads != tc.reads {
			t.Errorf("%s: %d reads, want %d", name, reads, tc.reads)
		}
	}
}
