package workspace

import (
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// parts are shared by all worlds, because they are slow to create.
type parts struct {
	scheme    *runtime.Scheme
	mapper    meta.RESTMapper
	converter managedfields.TypeConverter
}

var sharedParts = sync.OnceValue(func() parts {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, batchv1.AddToScheme, storagev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return parts{scheme, testrestmapper.TestOnlyStaticRESTMapper(scheme), managedfields.NewDeducedTypeConverter()}
})
