package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// patience is how long a test waits. Only a failing test takes that long.
const patience = 2 * time.Minute

// render returns a shipped installation with the image under test and failurePolicy Fail: otherwise requests would
// succeed without the webhooks.
func render(t *testing.T, folder string) string {
	t.Helper()
	rendered := kubectl(t, "", "kustomize", filepath.Join(harness.RootFor(t), "config", folder))
	for old, changed := range map[string]string{"image: kyklos:latest": "image: kyklos:" + imageTag, "failurePolicy: Ignore": "failurePolicy: Fail"} {
		if !strings.Contains(rendered, old) {
			t.Fatalf("config/%s has no %q", folder, old)
		}
		rendered = strings.ReplaceAll(rendered, old, changed)
	}
	return rendered
}

func kubectl(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	stdout, _, err := cluster.Kubectl(t.Context(), stdin, args...)
	harness.Must(t, err)
	return stdout
}

// managers returns the manager's pods that are not terminating, oldest first.
func managers(ctx context.Context) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := admin.List(ctx, &pods, client.InNamespace(harness.SystemNamespace), client.MatchingLabels{"app.kubernetes.io/name": "kyklos"})
	living := slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	slices.SortFunc(living, func(a, b corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return living, err
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// installed installs Kyklos once for this package, and waits until both replicas are ready.
func installed(t *testing.T) {
	t.Helper()
	kubectl(t, render(t, harness.SelfManaged), "apply", "--server-side", "-f", "-")
	began := time.Now()
	kubectl(t, "", "-n", harness.SystemNamespace, "rollout", "status", "deployment/kyklos-manager", "--timeout="+patience.String())
	t.Logf("both replicas available after %s", time.Since(began).Round(100*time.Millisecond))
}

// Both replicas become ready in a namespace that allows only restricted pods, with a read-only root file system.
func TestReplicasGetReady(t *testing.T) {
	installed(t)
	pods, err := managers(t.Context())
	harness.Must(t, err)
	if len(pods) != 2 {
		t.Fatalf("%d pods, want 2", len(pods))
	}
	for i := range pods {
		status := pods[i].Status.ContainerStatuses[0]
		if !isReady(&pods[i]) || status.RestartCount != 0 || !strings.HasSuffix(status.Image, "/kyklos:"+imageTag) {
			t.Errorf("%s: ready %t, %d restarts, image %s", pods[i].Name, isReady(&pods[i]), status.RestartCount, status.Image)
		}
	}
	namespace := corev1.Namespace{}
	harness.Must(t, admin.Get(t.Context(), client.ObjectKey{Name: harness.SystemNamespace}, &namespace))
	if got := namespace.Labels["pod-security.kubernetes.io/enforce"]; got != "restricted" {
		t.Errorf("the namespace enforces %q", got)
	}
	process := processOf(t, &pods[0])
	// The user is 65532, without capabilities, and system calls are filtered.
	for _, want := range []string{"Uid:\t65532\t65532\t65532\t65532", "Gid:\t65532\t65532\t65532\t65532",
		"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(read(t, filepath.Join(process, "status")), want+"\n") {
			t.Errorf("the manager's process has no line %q", want)
		}
	}
	for line := range strings.Lines(read(t, filepath.Join(process, "mounts"))) {
		if fields := strings.Fields(line); fields[1] == "/" && !slices.Contains(strings.Split(fields[3], ","), "ro") {
			t.Errorf("the root can be written to: %s", line)
		}
	}
}

// processOf returns the folder in /proc of a pod's manager. The test shares the node's process namespace.
func processOf(t *testing.T, pod *corev1.Pod) string {
	t.Helper()
	uid := string(pod.UID)
	folders, err := filepath.Glob("/proc/[0-9]*")
	harness.Must(t, err)
	for _, folder := range folders {
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		groups, _ := os.ReadFile(filepath.Join(folder, "cgroup"))
		if strings.HasPrefix(string(command), "/kyklos\x00") && strings.Contains(string(groups), uid) {
			return folder
		}
	}
	t.Fatalf("no process of %s is found", pod.Name)
	return ""
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	harness.Must(t, err)
	return string(content)
}

// A drain evicts one replica, and the other one only after the first is back.
func TestDrainTakesOneReplicaAtATime(t *testing.T) {
	installed(t)
	pods, err := managers(t.Context())
	harness.Must(t, err)
	evict := func(pod corev1.Pod) error {
		return admin.SubResource("eviction").Create(t.Context(), &pod, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}})
	}
	harness.Must(t, until(t.Context(), patience, func() error {
		budget := policyv1.PodDisruptionBudget{}
		err := admin.Get(t.Context(), client.ObjectKey{Namespace: harness.SystemNamespace, Name: "kyklos-manager"}, &budget)
		if err == nil && budget.Status.DisruptionsAllowed != 1 {
			err = fmt.Errorf("the budget allows %d disruptions", budget.Status.DisruptionsAllowed)
		}
		return err
	}))
	harness.Must(t, evict(pods[0]))
	if err := evict(pods[1]); err == nil || !strings.Contains(err.Error(), "disruption budget") {
		t.Errorf("the second eviction is answered by %v", err)
	}
	harness.Must(t, until(t.Context(), patience, func() error {
		living, err := managers(t.Context())
		if err == nil && (len(living) != 2 || !isReady(&living[0]) || !isReady(&living[1])) {
			err = fmt.Errorf("%d replicas, not all ready", len(living))
		}
		return err
	}))
}

// The manager's log can be read, and its container has nothing else to run.
func TestLogsAndExec(t *testing.T) {
	installed(t)
	pods, err := managers(t.Context())
	harness.Must(t, err)
	if log := kubectl(t, "", "-n", harness.SystemNamespace, "logs", pods[0].Name); !strings.HasPrefix(log, "{") {
		t.Errorf("the log begins with %.80q", log)
	}
	said := kubectl(t, "", "-n", harness.SystemNamespace, "exec", pods[0].Name, "--", "/kyklos", "version")
	if !strings.HasPrefix(said, "kyklos "+imageTag+", commit ") {
		t.Errorf("kyklos version says %q", said)
	}
	_, _, err = cluster.Kubectl(t.Context(), "", "-n", harness.SystemNamespace, "exec", pods[0].Name, "--", "sh", "-c", "id")
	if err == nil || !strings.Contains(err.Error(), "executable file not found") {
		t.Errorf("a shell is answered by %v", err)
	}
}
