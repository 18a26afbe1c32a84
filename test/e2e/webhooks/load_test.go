package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/webhooks/conversion"
)

// Ten clients that send five requests a second each.
const (
	clients = 10
	pause   = time.Second * clients / 50
)

const (
	refusal = `admission webhook "validate.v1alpha1.timewindowscaler.kyklos.io" denied the request: `
	scaler  = `
apiVersion: kyklos.io/%s
kind: TimeWindowScaler
metadata: {name: %s}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: %[2]s}
  timezone: Europe/Berlin
  defaultReplicas: 2
  windows:
  - {days: [Mon, Tue, Wed, Thu, Fri], start: "09:00", end: "17:00", replicas: 10}
`
)

func newScaler(version, name string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	return object, yaml.Unmarshal(fmt.Appendf(nil, scaler, version, name), &object.Object)
}

// load counts the answers to a number of clients.
type load struct {
	namespace string
	objects   dynamic.Interface

	mu       sync.Mutex
	requests map[string]int // by kind of request
	failures []error
}

func (s *scenario) newLoad(namespace string) *load {
	s.Helper()
	s.Must(s.Client.Create(s.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	return &load{namespace: namespace, objects: s.objects, requests: map[string]int{}}
}

func (l *load) in(version string) dynamic.ResourceInterface {
	return l.objects.Resource(schema.GroupVersionResource{Group: "kyklos.io", Version: version, Resource: "timewindowscalers"}).Namespace(l.namespace)
}

// run sends requests until ctx ends. All of them must succeed.
func (l *load) run(ctx context.Context) {
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() { l.live(ctx, fmt.Sprintf("scaler-%d", n)) })
	}
	all.Wait()
}

// live creates, reads, updates and deletes one object repeatedly, with alternating versions.
func (l *load) live(ctx context.Context, name string) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	versions := []string{"v1alpha1", "v1beta1"}
	for life := 0; ; life++ {
		one, other := versions[life%2], versions[(life+1)%2]
		for _, step := range l.steps(name, one, other) {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			// Not ctx: a stop in the middle of a request is not a refusal.
			l.count(step.kind, step.request(context.WithoutCancel(ctx)))
		}
	}
}

func (l *load) count(kind string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests[kind]++
	if err != nil {
		l.failures = append(l.failures, fmt.Errorf("%s %s: %w", time.Now().UTC().Format("15:04:05.000"), kind, err))
	}
}

func (l *load) answered() (total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, count := range l.requests {
		total += count
	}
	return total
}

// refused creates an object that only the webhook refuses, without a lookup, which is skipped when it takes long: v1alpha1
// carries a metric with a target of 0 in an annotation, which its schema does not check.
func (l *load) refused(ctx context.Context, name string) error {
	object, err := newScaler("v1alpha1", name)
	if err != nil {
		return err
	}
	carried := object.DeepCopy().Object["spec"].(map[string]any)
	carried["windows"].([]any)[0].(map[string]any)["metric"] = map[string]any{
		"name": "queue", "target": map[string]any{"type": "AverageValue", "averageValue": "0"}, "maxReplicas": 20,
	}
	text, err := json.Marshal(map[string]any{"spec": carried})
	if err != nil {
		return err
	}
	object.SetAnnotations(map[string]string{conversion.Annotation: string(text)})
	_, err = l.in("v1alpha1").Create(ctx, object, metav1.CreateOptions{})
	switch {
	case err == nil:
		return errors.New("was not refused")
	case strings.HasPrefix(err.Error(), refusal):
		return nil
	}
	return err
}

type step struct {
	kind    string
	request func(context.Context) error
}

func (l *load) steps(name, one, other string) []step {
	create := func(ctx context.Context) error {
		object, err := newScaler(one, name)
		if err == nil {
			_, err = l.in(one).Create(ctx, object, metav1.CreateOptions{})
		}
		return err
	}
	refused := func(ctx context.Context) error { return l.refused(ctx, name+"-refused") }
	read := func(version string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := l.in(version).Get(ctx, name, metav1.GetOptions{})
			return err
		}
	}
	update := func(version string, replicas int) func(context.Context) error {
		return func(ctx context.Context) error {
			text := fmt.Appendf(nil, `{"spec":{"defaultReplicas":%d}}`, replicas)
			_, err := l.in(version).Patch(ctx, name, types.MergePatchType, text, metav1.PatchOptions{})
			return err
		}
	}
	list := func(ctx context.Context) error {
		_, err := l.in("v1alpha1").List(ctx, metav1.ListOptions{})
		return err
	}
	remove := func(ctx context.Context) error { return l.in(one).Delete(ctx, name, metav1.DeleteOptions{}) }
	return []step{
		{"create in " + one, create}, {"read in " + other, read(other)}, {"update in " + other, update(other, 3)},
		{"read in " + one, read(one)}, {"update in " + one, update(one, 4)}, {"invalid in v1alpha1", refused},
		{"list in v1alpha1", list}, {"delete in " + one, remove},
	}
}
