package behaviour_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func template(annotations map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}, Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "example.org/web:1"}}},
	}
}

func deploy(t *testing.T, c *cluster, ns string, replicas int32, annotations map[string]string) {
	t.Helper()
	_, err := c.client.AppsV1().Deployments(ns).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Template: template(annotations),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
	}, metav1.CreateOptions{})
	must(t, err)
}

// available waits until the Deployment has that many available replicas and no others.
func available(t *testing.T, c *cluster, ns string, want int32) {
	t.Helper()
	eventually(t, "Deployment available", func(ctx context.Context) error {
		d, err := c.client.AppsV1().Deployments(ns).Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if s := d.Status; s.ObservedGeneration < d.Generation || s.AvailableReplicas != want || s.Replicas != want {
			return fmt.Errorf("want %d replicas, status is %+v", want, s)
		}
		return nil
	})
}

func annotatePods(t *testing.T, c *cluster, ns, key, value string) {
	t.Helper()
	pods, err := c.client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) == 0 {
		t.Fatalf("pods to annotate: %d, %v", len(pods.Items), err)
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)
	for _, pod := range pods.Items {
		if _, err := c.client.CoreV1().Pods(ns).Patch(t.Context(), pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeploymentBecomesAvailableAndScales(t *testing.T) {
	c, ns := everyones(t)
	deploy(t, c, ns, 3, nil)
	available(t, c, ns, 3)
	c.kubectl(t, "-n", ns, "scale", "deployment/web", "--replicas=5")
	available(t, c, ns, 5)
	c.kubectl(t, "-n", ns, "scale", "deployment/web", "--replicas=0")
	available(t, c, ns, 0)
}

func TestDeletedDeploymentTakesItsReplicaSetAndPods(t *testing.T) {
	c, ns := everyones(t)
	deploy(t, c, ns, 2, nil)
	available(t, c, ns, 2)
	must(t, c.client.AppsV1().Deployments(ns).Delete(t.Context(), "web", metav1.DeleteOptions{}))
	eventually(t, "garbage collection", func(ctx context.Context) error {
		sets, err := c.client.AppsV1().ReplicaSets(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		pods, err := c.client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		if err == nil && len(sets.Items)+len(pods.Items) > 0 {
			err = fmt.Errorf("%d ReplicaSets and %d pods are left", len(sets.Items), len(pods.Items))
		}
		return err
	})
}

func TestNamespaceDeletionFinishes(t *testing.T) {
	c, ns := everyones(t)
	deploy(t, c, ns, 2, nil)
	available(t, c, ns, 2)
	must(t, c.client.CoreV1().Namespaces().Delete(t.Context(), ns, metav1.DeleteOptions{}))
	eventually(t, "namespace gone", func(ctx context.Context) error {
		_, err := c.client.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("namespace is still there: %v", err)
	})
}

// held waits until the only pod runs and is unready for the reason.
func held(t *testing.T, c *cluster, ns, reason string) {
	t.Helper()
	eventually(t, "pod held unready", func(ctx context.Context) error {
		pods, err := c.client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		if err != nil || len(pods.Items) != 1 {
			return fmt.Errorf("want one pod: %v", err)
		}
		status := pods.Items[0].Status
		for _, condition := range status.Conditions {
			if condition.Type == corev1.PodReady && condition.Reason == reason &&
				condition.Status == corev1.ConditionFalse && status.Phase == corev1.PodRunning {
				return nil
			}
		}
		return fmt.Errorf("not held: %+v", status)
	})
}

// Both holds start a rollout that would never finish by itself, see it held, and then let it go.
func TestAnnotationsHoldReadiness(t *testing.T) {
	for name, hold := range map[string]struct{ key, value, release, reason string }{
		"delay": {"devcluster.kyklos.io/ready-delay", "24h", "0s", "Delayed"},
		"held":  {"devcluster.kyklos.io/ready", "false", "true", "Held"},
	} {
		t.Run(name, func(t *testing.T) {
			c, ns := everyones(t)
			deploy(t, c, ns, 1, map[string]string{hold.key: hold.value})
			held(t, c, ns, hold.reason)
			annotatePods(t, c, ns, hold.key, hold.release)
			available(t, c, ns, 1)
		})
	}
}

func TestJobEndsAsItsPodsDo(t *testing.T) {
	for phase, want := range map[string]batchv1.JobConditionType{"Succeeded": batchv1.JobComplete, "Failed": batchv1.JobFailed} {
		t.Run(phase, func(t *testing.T) {
			c, ns := everyones(t)
			pod := template(map[string]string{"devcluster.kyklos.io/phase": phase})
			pod.Spec.RestartPolicy = corev1.RestartPolicyNever
			_, err := c.client.BatchV1().Jobs(ns).Create(t.Context(), &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Name: "once"}, Spec: batchv1.JobSpec{Template: pod, BackoffLimit: new(int32)},
			}, metav1.CreateOptions{})
			must(t, err)
			eventually(t, "Job "+phase, func(ctx context.Context) error {
				job, err := c.client.BatchV1().Jobs(ns).Get(ctx, "once", metav1.GetOptions{})
				if err != nil {
					return err
				}
				for _, condition := range job.Status.Conditions {
					if condition.Type == want && condition.Status == corev1.ConditionTrue {
						return nil
					}
				}
				return fmt.Errorf("conditions are %+v", job.Status.Conditions)
			})
		})
	}
}

func TestStatefulSetAndDaemonSetRun(t *testing.T) {
	c, ns := everyones(t)
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	replicas := int32(2)
	_, err := c.client.AppsV1().StatefulSets(ns).Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec:       appsv1.StatefulSetSpec{Replicas: &replicas, Selector: selector, Template: template(nil)},
	}, metav1.CreateOptions{})
	must(t, err)
	agents := template(nil)
	agents.Labels = map[string]string{"app": "agent"}
	_, err = c.client.AppsV1().DaemonSets(ns).Create(t.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: agents.Labels}, Template: agents},
	}, metav1.CreateOptions{})
	must(t, err)
	if out := c.kubectl(t, "-n", ns, "rollout", "status", "statefulset/db", "--timeout=5m"); !strings.Contains(out, "complete") {
		t.Errorf("StatefulSet rollout: %s", out)
	}
	if out := c.kubectl(t, "-n", ns, "rollout", "status", "daemonset/agent", "--timeout=5m"); !strings.Contains(out, "successfully rolled out") {
		t.Errorf("DaemonSet rollout: %s", out)
	}
}
