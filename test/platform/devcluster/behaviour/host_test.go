package behaviour_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// claimed makes a claim of the class; "" is the default one.
func claimed(t *testing.T, c *cluster, ns, class string) *corev1.PersistentVolumeClaim {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	if class != "" {
		claim.Spec.StorageClassName = &class
	}
	claim, err := c.client.CoreV1().PersistentVolumeClaims(ns).Create(t.Context(), claim, metav1.CreateOptions{})
	must(t, err)
	return claim
}

// scripted is a pod's spec with one container that runs the script on this machine, with the claim at /data.
func scripted(script string) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{
			Name: "main", Image: "host:///bin/sh", Args: []string{"-c", script},
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data", SubPath: "home"}},
		}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}},
	}
}

func run(t *testing.T, c *cluster, ns, name, script string) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: scripted(script)}
	if _, err := c.client.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// pod waits until the pod is as wanted.
func pod(t *testing.T, c *cluster, ns, name string, wanted func(*corev1.Pod) bool) (found *corev1.Pod) {
	t.Helper()
	eventually(t, "pod "+name, func(ctx context.Context) (err error) {
		found, err = c.client.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
		if err == nil && !wanted(found) {
			err = fmt.Errorf("it is %+v", found.Status)
		}
		return err
	})
	return found
}

func isReady(p *corev1.Pod) bool {
	return len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].Ready
}

// A Job's process writes on a claim's folder, fails, and says why; and fails again, by its back-off limit.
func TestJobOfProcesses(t *testing.T) {
	c, ns := everyones(t)
	claim := claimed(t, c, ns, "")
	template := corev1.PodTemplateSpec{Spec: scripted("echo once >>/data/file; printf 'disk full' >/dev/termination-log; exit 3")}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "mover"}, Spec: batchv1.JobSpec{BackoffLimit: ptr.To[int32](0), Template: template}}
	if _, err := c.client.BatchV1().Jobs(ns).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.kubectl(t, "-n", ns, "wait", "--for=condition=Failed", "job/mover", "--timeout=5m")
	pods, err := c.client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("%d pods: %v", len(pods.Items), err)
	}
	end := pods.Items[0].Status.ContainerStatuses[0].State.Terminated
	if end == nil || end.ExitCode != 3 || end.Reason != "Error" || end.Message != "disk full" {
		t.Errorf("it ended as %+v", end)
	}
	folder := filepath.Join(c.dir, "volumes", string(claim.UID))
	if content, err := os.ReadFile(filepath.Join(folder, "home", "file")); err != nil || string(content) != "once\n" {
		t.Errorf("the claim's folder has %q: %v", content, err)
	}
}

// The home of a simulated pod has a folder.
func TestSimulatedPodsHaveFolders(t *testing.T) {
	c, ns := everyones(t)
	claim := claimed(t, c, ns, "")
	spec := scripted("")
	spec.Containers[0].Image = "example.org/web:1"
	if _, err := c.client.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: spec}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod(t, c, ns, "web", isReady)
	if info, err := os.Stat(filepath.Join(c.dir, "volumes", string(claim.UID), "home")); err != nil || !info.IsDir() {
		t.Errorf("the claim's home: %v, %v", info, err)
	}
}

// A deleted Job's process is given the time to save, and its end reaches the pod's last status.
func TestGraceOfAProcess(t *testing.T) {
	c, ns := everyones(t)
	claim := claimed(t, c, ns, "immediate")
	run(t, c, ns, "server", `trap 'echo saved >/data/state; exit 0' TERM; echo up >/data/state; while :; do sleep 0.1; done`)
	pod(t, c, ns, "server", isReady)
	state := func(want string) {
		t.Helper()
		eventually(t, "state "+want, func(context.Context) error {
			content, err := os.ReadFile(filepath.Join(c.dir, "volumes", string(claim.UID), "home", "state"))
			if err == nil && string(content) != want {
				err = fmt.Errorf("it is %q", content)
			}
			return err
		})
	}
	state("up\n")
	c.kubectl(t, "-n", ns, "delete", "pod/server", "--timeout=5m")
	state("saved\n")
}

// A claim's folder lives as long as anything may use it, a finished pod too (D18), and then goes with its volume.
func TestFolderIsDeletedWithItsClaim(t *testing.T) {
	c, ns := everyones(t)
	claim := claimed(t, c, ns, "")
	run(t, c, ns, "finished", "echo kept >/data/file")
	pod(t, c, ns, "finished", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	run(t, c, ns, "running", "exec sleep 1000")
	pod(t, c, ns, "running", isReady)
	folder := filepath.Join(c.dir, "volumes", string(claim.UID))
	claims := c.client.CoreV1().PersistentVolumeClaims(ns)
	bound, err := claims.Get(t.Context(), "data", metav1.GetOptions{})
	if err != nil || bound.Status.Phase != corev1.ClaimBound {
		t.Fatalf("claim: %v, %+v", err, bound.Status)
	}
	must(t, claims.Delete(t.Context(), "data", metav1.DeleteOptions{}))
	run(t, c, ns, "late", "true")
	late := pod(t, c, ns, "late", func(p *corev1.Pod) bool { return len(p.Status.Conditions) > 0 })
	if said := late.Status.Conditions[0].Message; !strings.Contains(said, `"data" is being deleted`) {
		t.Errorf("a late pod waits with the message %q", said)
	}
	c.kubectl(t, "-n", ns, "delete", "pod/late", "pod/running", "--timeout=5m")
	if _, err := os.Stat(filepath.Join(folder, "home", "file")); err != nil {
		t.Errorf("before the last pod is gone: %v", err)
	}
	c.kubectl(t, "-n", ns, "delete", "pod/finished", "--timeout=5m")
	eventually(t, "folder and volume gone", func(ctx context.Context) error {
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the folder: %w", err)
		}
		_, err := c.client.CoreV1().PersistentVolumes().Get(ctx, bound.Spec.VolumeName, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("the volume: %w", err)
		}
		return nil
	})
}

// A claim grows; it never waits for a pod in the class that says so, and does in the default one.
func TestClaimsAreBoundAndGrow(t *testing.T) {
	c, ns := everyones(t)
	claimed(t, c, ns, "immediate")
	c.kubectl(t, "-n", ns, "wait", "--for=jsonpath={.status.phase}=Bound", "pvc/data", "--timeout=5m")
	c.kubectl(t, "-n", ns, "patch", "pvc/data", "-p", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
	c.kubectl(t, "-n", ns, "wait", "--for=jsonpath={.status.capacity.storage}=2Gi", "pvc/data", "--timeout=5m")
	_, other := everyones(t)
	claimed(t, c, other, "")
	eventually(t, "it waits", func(ctx context.Context) error {
		events, err := c.client.CoreV1().Events(other).List(ctx, metav1.ListOptions{FieldSelector: "reason=WaitForFirstConsumer"})
		if err == nil && len(events.Items) == 0 {
			err = errors.New("no event WaitForFirstConsumer")
		}
		return err
	})
	if claim, err := c.client.CoreV1().PersistentVolumeClaims(other).Get(t.Context(), "data", metav1.GetOptions{}); err != nil || claim.Spec.VolumeName != "" {
		t.Errorf("without a pod it has the volume %q: %v", claim.Spec.VolumeName, err)
	}
}

// serve runs a pod in the namespace default whose starts a file on its claim counts.
func serve(t *testing.T, c *cluster) {
	t.Helper()
	claimed(t, c, "default", "")
	spec := scripted("echo started >>/data/starts; sleep 1000 & exec sleep 1000")
	spec.RestartPolicy = corev1.RestartPolicyAlways
	server := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "server"}, Spec: spec}
	if _, err := c.client.CoreV1().Pods("default").Create(t.Context(), server, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod(t, c, "default", "server", isReady)
}

// served checks that the pod came back with the node, on the same files, and knows that it was lost.
func served(t *testing.T, c *cluster) {
	t.Helper()
	p := pod(t, c, "default", "server", func(p *corev1.Pod) bool { return isReady(p) && p.Status.ContainerStatuses[0].RestartCount == 1 })
	if last := p.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.ExitCode != 137 {
		t.Errorf("the end before was %+v", last)
	}
	starts, err := filepath.Glob(filepath.Join(c.dir, "volumes", "*", "home", "starts"))
	if err != nil || len(starts) != 1 {
		t.Fatalf("files %v: %v", starts, err)
	}
	if content, err := os.ReadFile(starts[0]); err != nil || string(content) != "started\nstarted\n" {
		t.Errorf("it says %q: %v", content, err)
	}
}

// marked are the processes whose environment has the folder's mark.
func marked(dir string) (left []string) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		if content, err := os.ReadFile(path); err == nil && strings.Contains(string(content), "DEVCLUSTER_CONTAINER="+dir) {
			left = append(left, path)
		}
	}
	return left
}
