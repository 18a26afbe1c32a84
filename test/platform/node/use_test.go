package node

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// newTarget creates a namespace with a Deployment of one real pod, web.
func newTarget(t *testing.T) (namespace string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "node-"}}
	harness.Must(t, admin.Create(t.Context(), ns))
	labels := map[string]string{"app": "web"}
	harness.Must(t, admin.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: ns.Name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: pauseImage}}},
			},
		},
	}))
	return ns.Name
}

// scaler returns a TimeWindowScaler of web with a default count, and another count from a time of every day in UTC.
func scaler(version, namespace, name string, otherwise, inside int, from time.Time) *unstructured.Unstructured {
	s := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"targetRef": map[string]any{"kind": "Deployment", "name": "web"},
		"timezone":  "UTC", "defaultReplicas": int64(otherwise),
		"windows": []any{map[string]any{
			"days":  []any{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"},
			"start": from.UTC().Format("15:04"), "end": from.UTC().Add(12 * time.Hour).Format("15:04"), "replicas": int64(inside),
		}},
	}}}
	s.SetGroupVersionKind(schema.GroupVersionKind{Group: "kyklos.io", Version: version, Kind: "TimeWindowScaler"})
	s.SetNamespace(namespace)
	s.SetName(name)
	return s
}

// awaitPods waits until web has exactly that many ready pods.
func awaitPods(t *testing.T, namespace string, want int) {
	t.Helper()
	harness.Must(t, until(t.Context(), patience, func() error {
		var pods corev1.PodList
		if err := admin.List(t.Context(), &pods, client.InNamespace(namespace)); err != nil {
			return err
		}
		ready := 0
		for i := range pods.Items {
			if isReady(&pods.Items[i]) && pods.Items[i].DeletionTimestamp == nil {
				ready++
			}
		}
		if len(pods.Items) != want || ready != want {
			return fmt.Errorf("%d pods, %d of them ready, want %d", len(pods.Items), ready, want)
		}
		return nil
	}))
}

// The API server calls the webhooks at the Service's address: they refuse, warn and convert.
func TestWebhooksBehindTheService(t *testing.T) {
	installed(t)
	namespace := newTarget(t)
	later := time.Now().Add(6 * time.Hour)
	harness.Must(t, admin.Create(t.Context(), scaler("v1beta1", namespace, "first", 2, 3, later)))
	err := admin.Create(t.Context(), scaler("v1beta1", namespace, "second", 2, 3, later))
	if err == nil || !strings.Contains(err.Error(), `spec.targetRef.name: Duplicate value: "web"`) {
		t.Errorf("a second scaler of one target is answered by %v", err)
	}
	old := scaler("v1alpha1", namespace, "first", 0, 0, later)
	harness.Must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(old), old))
	if count, _, _ := unstructured.NestedInt64(old.Object, "spec", "defaultReplicas"); count != 2 {
		t.Errorf("in v1alpha1 the count is %d, want 2", count)
	}
}

// A window opens on time and real pods start. Without it they stop.
func TestFlipRealPods(t *testing.T) {
	installed(t)
	namespace := newTarget(t)
	awaitPods(t, namespace, 1)
	// At least five seconds ahead, so that the scaler exists before.
	opens := time.Now().Add(5 * time.Second).Truncate(time.Minute).Add(time.Minute)
	s := scaler("v1beta1", namespace, "web", 2, 4, opens)
	harness.Must(t, admin.Create(t.Context(), s))
	awaitPods(t, namespace, 2)
	if now := time.Now(); now.After(opens) {
		t.Skipf("the machine is too slow: the pods before the window came %s after it opened", now.Sub(opens))
	}
	awaitPods(t, namespace, 4)
	t.Logf("all pods ready %s after the window opened", time.Since(opens).Round(100*time.Millisecond))
	kubectl(t, "", "-n", namespace, "patch", "timewindowscaler", "web", "--type=merge", "-p", `{"spec":{"windows":[{"days":["Mon"],"start":"00:00","end":"00:01","replicas":5}]}}`)
	awaitPods(t, namespace, 2)
}

// load is clients with requests that only a webhook answers.
type load struct {
	sent, failed atomic.Int64
	first        atomic.Pointer[error]
	stop         chan struct{}
	clients      sync.WaitGroup
}

func startLoad(t *testing.T, namespace string) *load {
	l := &load{stop: make(chan struct{})}
	t.Cleanup(l.halt)
	for _, version := range []string{"v1alpha1", "v1beta1", "v1alpha1", "v1beta1", "v1alpha1", "v1beta1"} {
		l.clients.Go(func() {
			for {
				select {
				case <-l.stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				l.sent.Add(1)
				if err := admin.Create(context.Background(), scaler(version, namespace, "load", 2, 3, time.Now()), client.DryRunAll); err != nil {
					l.failed.Add(1)
					l.first.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	return l
}

func (l *load) halt() {
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	l.clients.Wait()
}

// end stops the clients. No request may have failed.
func (l *load) end(t *testing.T, what string) {
	t.Helper()
	l.halt()
	t.Logf("%d requests %s, %d failed", l.sent.Load(), what, l.failed.Load())
	if l.sent.Load() == 0 {
		t.Error("no request was sent")
	}
	if err := l.first.Load(); err != nil {
		t.Errorf("%d of %d requests failed, the first by: %v", l.failed.Load(), l.sent.Load(), *err)
	}
}

// All replicas are replaced one by one, and every request that needs a webhook is answered.
func TestRolloutUnderLoad(t *testing.T) {
	installed(t)
	before, err := managers(t.Context())
	harness.Must(t, err)
	load := startLoad(t, newTarget(t))
	kubectl(t, "", "-n", harness.SystemNamespace, "rollout", "restart", "deployment/kyklos-manager")
	kubectl(t, "", "-n", harness.SystemNamespace, "rollout", "status", "deployment/kyklos-manager", "--timeout="+patience.String())
	// The last old replica is still stopping; requests may be on their way to it.
	harness.Must(t, until(t.Context(), patience, func() error {
		for i := range before {
			err := admin.Get(t.Context(), client.ObjectKeyFromObject(&before[i]), &corev1.Pod{})
			if err == nil {
				return fmt.Errorf("%s is still there", before[i].Name)
			} else if !apierrors.IsNotFound(err) {
				return err
			}
		}
		return nil
	}))
	load.end(t, "while both replicas were replaced")
}

// TestUsage logs the kubelet's figures for the manager's pods, as a base for requests and limits.
func TestUsage(t *testing.T) {
	installed(t)
	var summary struct {
		Pods []struct {
			PodRef struct{ Name, Namespace string }
			CPU    struct{ UsageCoreNanoSeconds uint64 }
			Memory struct{ WorkingSetBytes, RSSBytes uint64 }
		}
	}
	var usage []string
	harness.Must(t, until(t.Context(), patience, func() error {
		if err := json.Unmarshal([]byte(kubectl(t, "", "get", "--raw", "/api/v1/nodes/node/proxy/stats/summary")), &summary); err != nil {
			return err
		}
		usage = nil
		for _, pod := range summary.Pods {
			if pod.PodRef.Namespace == harness.SystemNamespace && pod.Memory.WorkingSetBytes > 0 {
				usage = append(usage, fmt.Sprintf("%s: working set %d MiB, resident %d MiB, %.2f s of CPU since its start", pod.PodRef.Name,
					pod.Memory.WorkingSetBytes>>20, pod.Memory.RSSBytes>>20, float64(pod.CPU.UsageCoreNanoSeconds)/1e9))
			}
		}
		if len(usage) < 2 {
			return fmt.Errorf("the kubelet knows of %d of the manager's pods", len(usage))
		}
		return nil
	}))
	t.Log(strings.Join(usage, "\n"))
}
