package storagemigration_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	"kyklos.io/kyklos/test/controlplane"
)

const (
	// patience bounds what a busy machine takes; only a failing test takes it.
	patience = 2 * time.Minute
	crdName  = "timewindowscalers.kyklos.io"
	oldOne   = "v1alpha1"
	newOne   = "v1beta1"
)

// stage is a control plane with Kyklos's definition on it, in two versions of one schema.
type stage struct {
	*testing.T
	client.Client
	cluster *controlplane.Cluster
	etcd    string
	// strict is the schema as it is shipped.
	strict *apiextensionsv1.CustomResourceValidation
}

func newStage(t *testing.T, args ...string) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cluster, err := controlplane.Start(ctx, filepath.Join(t.TempDir(), "cluster"), append(args, "--etcd-gateway", "--kubelet=false")...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() })
	s := &stage{T: t, cluster: cluster}
	s.must(cluster.Install(ctx, 1)) // nothing listens there; failurePolicy is Ignore
	url, err := os.ReadFile(filepath.Join(cluster.Dir, "etcd-url"))
	s.must(err)
	s.etcd = string(url)

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
	err := wait.PollUntilContextTimeout(s.Context(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) { return done(), nil })
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
	got := s.stored()["probe"].version
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

// storage is one object as etcd has it.
type storage struct {
	version string // of the API
	writes  string // since it was created, that included
}

// stored returns what etcd has of the definition's objects, by name.
func (s *stage) stored() map[string]storage {
	s.Helper()
	const prefix = "/registry/kyklos.io/timewindowscalers/"
	body, err := json.Marshal(map[string][]byte{"key": []byte(prefix), "range_end": []byte(prefix[:len(prefix)-1] + "0")})
	s.must(err)
	response, err := http.Post(s.etcd+"/v3/kv/range", "application/json", bytes.NewReader(body))
	s.must(err)
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		s.Fatalf("etcd answers %s", response.Status)
	}
	var answer struct {
		KVs []struct{ Key, Value, Version string } `json:"kvs"`
	}
	s.must(json.NewDecoder(response.Body).Decode(&answer))
	found := map[string]storage{}
	for _, kv := range answer.KVs {
		key, err := base64.StdEncoding.DecodeString(kv.Key)
		s.must(err)
		value, err := base64.StdEncoding.DecodeString(kv.Value)
		s.must(err)
		var object metav1.TypeMeta
		s.must(json.Unmarshal(value, &object))
		found[filepath.Base(string(key))] = storage{version: strings.TrimPrefix(object.APIVersion, "kyklos.io/"), writes: kv.Version}
	}
	return found
}

// allStored checks that count objects are stored in the version, each written that often.
func (s *stage) allStored(count int, version, writes string) {
	s.Helper()
	found := s.stored()
	if len(found) != count {
		s.Errorf("%d objects are stored, want %d", len(found), count)
	}
	tally := map[storage]int{}
	for _, object := range found {
		tally[object]++
	}
	if want := (map[storage]int{{version, writes}: count}); !maps.Equal(tally, want) {
		s.Errorf("stored versions and writes: %v, want %v", tally, want)
	}
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

// objects returns all scalers as the old version shows them, without their resourceVersions.
func (s *stage) objects() map[string]any {
	s.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("kyklos.io/" + oldOne)
	list.SetKind("TimeWindowScalerList")
	s.must(s.List(s.Context(), list))
	all := map[string]any{}
	for _, object := range list.Items {
		unstructured.RemoveNestedField(object.Object, "metadata", "resourceVersion")
		all[object.GetName()] = object.Object
	}
	return all
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

// told waits for an event on the definition whose note has the text.
func (s *stage) told(reason, text string) {
	s.Helper()
	s.eventually(fmt.Sprintf("the event %s: %s", reason, text), func() bool {
		var list eventsv1.EventList
		s.must(s.List(s.Context(), &list))
		for _, e := range list.Items {
			if e.Reason == reason && e.Regarding.Kind == "CustomResourceDefinition" && e.Regarding.Name == crdName && strings.Contains(e.Note, text) {
				return true
			}
		}
		return false
	})
}
