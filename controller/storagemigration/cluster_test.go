package storagemigration_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"kyklos.io/kyklos/controller/storagemigration"
	"kyklos.io/kyklos/test/harness"
)

const (
	crdName = "timewindowscalers.kyklos.io"
	oldOne  = "v1alpha1"
	newOne  = "v1beta1"
)

// stage is a control plane with Kyklos's definition on it, in two versions of one schema.
type stage struct {
	*testing.T
	client.Client
	cluster *harness.Cluster
	// strict is the schema as it is shipped.
	strict *apiextensionsv1.CustomResourceValidation
}

func newStage(t *testing.T, args ...string) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*harness.Patience)
	defer cancel()
	cluster := harness.StartFor(t, append(args, "--etcd-gateway", "--kubelet=false")...)
	s := &stage{T: t, cluster: cluster}
	s.must(cluster.Install(ctx, 1))                                                            // nothing listens there
	_, _, err := cluster.Kubectl(ctx, "", "delete", "validatingwebhookconfiguration", "--all") // writes in v1alpha1 would wait for it
	s.must(err)

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		s.must(add(scheme))
	}
	s.Client, err = client.New(cluster.Config, client.Options{Scheme: scheme})
	s.must(err)
	for _, v := range s.definition().Spec.Versions {
		if v.Name == oldOne {
			s.strict = v.Schema
		}
	}
	s.store(oldOne)
	// The shipped definition may store another version; nothing is stored yet, so nothing is lost.
	s.setStoredVersions(oldOne)
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) eventually(what string, done func() bool) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 20*time.Millisecond, harness.Patience, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		s.Fatalf("never saw %s; storedVersions %v", what, s.definition().Status.StoredVersions)
	}
}

func (s *stage) definition() *apiextensionsv1.CustomResourceDefinition {
	s.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	s.must(s.Get(s.Context(), client.ObjectKey{Name: crdName}, crd))
	return crd
}

// store makes a version the storage version, with the shipped schema.
func (s *stage) store(version string) { s.storeWith(version, s.strict) }

func (s *stage) storeWith(version string, schema *apiextensionsv1.CustomResourceValidation) {
	s.Helper()
	s.update(func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
		crd.Spec.Versions = nil
		for _, name := range []string{oldOne, newOne} {
			crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
				Name: name, Served: true, Storage: name == version, Schema: schema,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			})
		}
	})
	s.eventually("that version being served and stored", func() bool { return s.probe(version) })
}

// laxDefinition lets everything pass.
func laxDefinition() *apiextensionsv1.CustomResourceValidation {
	return &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
		Type: "object", XPreserveUnknownFields: ptr.To(true),
	}}
}

func (s *stage) update(change func(*apiextensionsv1.CustomResourceDefinition)) {
	s.Helper()
	s.eventually("the definition changed", func() bool {
		crd := s.definition()
		change(crd)
		err := s.Update(s.Context(), crd)
		if err != nil && !apierrors.IsConflict(err) {
			s.Fatal(err)
		}
		return err == nil
	})
}

// probe reports whether the API server stores what is created now in that version; it learns of a
// changed definition a moment later.
func (s *stage) probe(version string) bool {
	s.Helper()
	probe := scaler("probe", oldOne)
	if err := s.Create(s.Context(), probe); err != nil {
		return false
	}
	got := s.stored()["default/probe"].Version
	s.must(s.Delete(s.Context(), probe))
	return got == version
}

func (s *stage) setStoredVersions(versions ...string) {
	s.Helper()
	s.eventually("storedVersions set", func() bool {
		crd := s.definition()
		crd.Status.StoredVersions = versions
		err := s.Status().Update(s.Context(), crd)
		if err != nil && !apierrors.IsConflict(err) {
			s.Fatal(err)
		}
		return err == nil
	})
}

// migrated waits until the definition says, beyond doubt, that version is the only one stored.
func (s *stage) migrated(version string) {
	s.Helper()
	s.eventually("all stored as "+version, func() bool {
		crd := s.definition()
		for _, c := range crd.Status.Conditions {
			if c.Type == apiextensionsv1.StorageMigrating && (c.Status == apiextensionsv1.ConditionTrue || c.Reason == "MigrationFailed") {
				return false
			}
		}
		return len(crd.Status.StoredVersions) == 1 && crd.Status.StoredVersions[0] == version
	})
}

func scaler(name, version string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kyklos.io/" + version, "kind": "TimeWindowScaler",
		"metadata": map[string]any{"namespace": "default", "name": name},
		"spec": map[string]any{
			"targetRef": map[string]any{"kind": "Deployment", "name": name},
			"timezone":  "Europe/Berlin",
			"windows":   []any{map[string]any{"days": []any{"Mon"}, "start": "09:00", "end": "17:00", "replicas": int64(3)}},
		},
	}}
}

// fill creates count scalers in the old version, with a status.
func (s *stage) fill(count int) {
	s.Helper()
	var all sync.WaitGroup
	numbers := make(chan int)
	for range 8 {
		all.Go(func() {
			for i := range numbers {
				if err := s.Create(s.Context(), scaler(fmt.Sprintf("s%04d", i), oldOne)); err != nil {
					s.Error(err)
				}
			}
		})
	}
	for i := range count {
		numbers <- i
	}
	close(numbers)
	all.Wait()
}

// migrate runs the controller as the shipped ServiceAccount until stop is called.
func (s *stage) migrate(qps int) (stop func()) {
	s.Helper()
	access, err := s.cluster.ManagerConfig(s.Context())
	s.must(err)
	mgr, err := ctrl.NewManager(access, ctrl.Options{
		Logger:  klog.Background(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	s.must(err)
	s.must(storagemigration.SetupWithManager(mgr, storagemigration.Options{
		Clock: clock.RealClock{}, Definitions: []string{crdName}, QPS: qps,
	}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			s.Error(err)
		}
	})
	s.Cleanup(stop)
	return stop
}
