package behaviour_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podNames are the namespace's pods, in the order of their names.
func podNames(ctx context.Context, c *cluster, ns string) (string, error) {
	pods, err := c.client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	var names []string
	for _, pod := range pods.Items {
		names = append(names, pod.Name)
	}
	return strings.Join(names, " "), nil
}

// statefulReady waits until the StatefulSet has just those pods, and that many of them ready.
func statefulReady(t *testing.T, c *cluster, ns, pods string, ready int32) {
	t.Helper()
	eventually(t, "StatefulSet with "+pods, func(ctx context.Context) error {
		set, err := c.client.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		names, err := podNames(ctx, c, ns)
		if err != nil {
			return err
		}
		if s := set.Status; s.ObservedGeneration < set.Generation || s.ReadyReplicas != ready || int(s.Replicas) != len(strings.Fields(pods)) || names != pods {
			return fmt.Errorf("pods are %q, status is %+v; want %q, %d ready", names, s, pods, ready)
		}
		return nil
	})
}

// Pods come up in order and each waits for the one before it; the highest goes first.
func TestStatefulSetScalesInOrder(t *testing.T) {
	c, ns := everyones(t)
	replicas := int32(2)
	_, err := c.client.AppsV1().StatefulSets(ns).Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Template: template(nil),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	statefulReady(t, c, ns, "db-0 db-1", 2)
	annotatePods(t, c, ns, "devcluster.kyklos.io/ready", "false")
	statefulReady(t, c, ns, "db-0 db-1", 0)
	annotatePods(t, c, ns, "devcluster.kyklos.io/ready", "true")
	for _, step := range []struct {
		replicas int32
		pods     string
	}{{4, "db-0 db-1 db-2 db-3"}, {1, "db-0"}, {0, ""}, {1, "db-0"}} {
		c.kubectl(t, "-n", ns, "scale", "statefulset/db", fmt.Sprintf("--replicas=%d", step.replicas))
		statefulReady(t, c, ns, step.pods, step.replicas)
	}
}

func TestStatefulSetWaitsForEachPod(t *testing.T) {
	c, ns := everyones(t)
	replicas := int32(2)
	_, err := c.client.AppsV1().StatefulSets(ns).Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Template: template(map[string]string{"devcluster.kyklos.io/ready": "false"}),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	held(t, c, ns, "Held")
	statefulReady(t, c, ns, "db-0", 0)
	annotatePods(t, c, ns, "devcluster.kyklos.io/ready", "true")
	statefulReady(t, c, ns, "db-0 db-1", 1) // the second is made from the template, held
}

// A nodeSelector that no node matches suspends a DaemonSet, as Kyklos does it.
func TestDaemonSetFollowsItsNodeSelector(t *testing.T) {
	c, ns := everyones(t)
	sets := c.client.AppsV1().DaemonSets(ns)
	_, err := sets.Create(t.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: template(nil)},
	}, metav1.CreateOptions{})
	must(t, err)
	running := func(want int32) {
		t.Helper()
		eventually(t, fmt.Sprintf("DaemonSet on %d nodes", want), func(ctx context.Context) error {
			set, err := sets.Get(ctx, "agent", metav1.GetOptions{})
			if err != nil {
				return err
			}
			names, err := podNames(ctx, c, ns)
			if err != nil {
				return err
			}
			if s := set.Status; s.ObservedGeneration < set.Generation || s.DesiredNumberScheduled != want || s.NumberReady != want ||
				s.NumberAvailable != want || s.NumberMisscheduled != 0 || len(strings.Fields(names)) != int(want) {
				return fmt.Errorf("pods are %q, status is %+v; want %d", names, s, want)
			}
			return nil
		})
	}
	selector := func(value string) {
		t.Helper()
		patch := fmt.Sprintf(`{"spec":{"template":{"spec":{"nodeSelector":{"kyklos.io/suspended":%s}}}}}`, value)
		if _, err := sets.Patch(t.Context(), "agent", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	running(1)
	selector(`"true"`)
	running(0)
	selector("null")
	running(1)
}

// rollouts is a kind as an operator for rollouts brings it: with a scale subresource, and no controller to run it.
const rollouts = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rollouts.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: rollouts, singular: rollout, kind: Rollout, listKind: RolloutList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {replicas: {type: integer, minimum: 0}}}
          status: {type: object, properties: {replicas: {type: integer}, selector: {type: string}}}
`

// Anything with a scale subresource can be scaled, down to 0 too; its status is moved by hand.
func TestAnyKindScalesThroughItsSubresource(t *testing.T) {
	c, ns := everyones(t)
	apply(t, c, rollouts)
	c.kubectl(t, "wait", "--for=condition=Established", "crd/rollouts.example.com", "--timeout=5m")
	apply(t, c, "apiVersion: example.com/v1\nkind: Rollout\nmetadata: {name: web, namespace: "+ns+"}\nspec: {replicas: 2}\n")
	scale := func() (got autoscalingv1.Scale) {
		t.Helper()
		must(t, c.client.RESTClient().Get().AbsPath("/apis/example.com/v1/namespaces", ns, "rollouts/web/scale").Do(t.Context()).Into(&got))
		return got
	}
	if got := scale(); got.Spec.Replicas != 2 || got.Status.Replicas != 0 {
		t.Errorf("scale before any status: %+v", got)
	}
	for _, replicas := range []int32{5, 0, 3} {
		c.kubectl(t, "-n", ns, "scale", "rollouts.example.com/web", fmt.Sprintf("--replicas=%d", replicas))
		c.kubectl(t, "-n", ns, "patch", "rollouts.example.com/web", "--subresource=status", "--type=merge",
			"-p", fmt.Sprintf(`{"status":{"replicas":%d,"selector":"app=web"}}`, replicas))
		got := scale()
		if diff := cmp.Diff(autoscalingv1.ScaleSpec{Replicas: replicas}, got.Spec); diff != "" {
			t.Errorf("spec (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(autoscalingv1.ScaleStatus{Replicas: replicas, Selector: "app=web"}, got.Status); diff != "" {
			t.Errorf("status (-want +got)\n%s", diff)
		}
	}
}
