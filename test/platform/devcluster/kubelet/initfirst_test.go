package kubelet

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The init containers of a simulated pod that are processes run first: what they look for on a claim has not been made for the
// simulated ones.
func TestASimulatedPodsInitContainerRunsFirst(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	h := newHost(t, "", claim(folder, func(*corev1.PersistentVolumeClaim) {})...)
	h.container().Image, h.container().Command = "example.org/web:1", nil
	h.mount("data", "/data", "home", ofClaim)
	h.pod.Spec.RestartPolicy = corev1.RestartPolicyAlways
	h.pod.Spec.InitContainers = []corev1.Container{{
		Name: "check", Image: "host:///bin/sh", Args: []string{"-c", "test -e /volume/home/file"}, TerminationMessagePath: "/dev/termination-log",
		VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/volume"}},
	}}
	byImage := ByImage{Host: h.Processes, Others: WithClaims{Runtime: Simulated{}, sources: h.sources}}
	until := func(what string, wanted func(corev1.PodStatus) bool) {
		t.Helper()
		for end := time.After(patience); ; {
			status, again, err := byImage.Sync(t.Context(), h.pod, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if ready := condition(t, status, corev1.PodReady).Status; status.Phase == corev1.PodPending && ready != corev1.ConditionFalse {
				t.Fatalf("before its own containers have started, it is ready: %s", ready)
			}
			if h.pod.Status = status; wanted(status) {
				return
			}
			h.await(what, again, end)
		}
	}
	until("failed twice", func(s corev1.PodStatus) bool {
		return s.Phase == corev1.PodPending && len(s.InitContainerStatuses) == 1 && s.InitContainerStatuses[0].RestartCount > 0 && len(s.ContainerStatuses) == 1
	})
	home := filepath.Join(folder, "home")
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
	if err := errors.Join(os.Mkdir(home, 0o700), os.WriteFile(filepath.Join(home, "file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	until("running", func(s corev1.PodStatus) bool { return s.Phase == corev1.PodRunning })
	if _, gone, err := byImage.Stop(t.Context(), podName, h.pod, time.Now()); !gone || err != nil {
		t.Errorf("gone %t, %v", gone, err)
	}
	if _, gone, err := byImage.Stop(t.Context(), podName, nil, time.Now()); !gone || err != nil {
		t.Errorf("gone %t, %v", gone, err)
	}
}
