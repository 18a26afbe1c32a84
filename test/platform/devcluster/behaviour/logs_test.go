package behaviour_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// loggingPod makes a pod without a claim that runs the script on this machine.
func loggingPod(t *testing.T, c *cluster, ns, name, script string, policy corev1.RestartPolicy) {
	t.Helper()
	spec := scripted(script)
	spec.RestartPolicy, spec.Volumes, spec.Containers[0].VolumeMounts = policy, nil, nil
	if _, err := c.client.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func log(t *testing.T, c *cluster, ns, name string, options corev1.PodLogOptions) (string, error) {
	t.Helper()
	stream, err := c.client.CoreV1().Pods(ns).GetLogs(name, &options).Stream(t.Context())
	if err != nil {
		return "", err
	}
	defer stream.Close()
	text, err := io.ReadAll(stream)
	return string(text), err
}

// What a process writes is there by the API, the runs of a container one by one.
func TestLogs(t *testing.T) {
	c, ns := everyones(t)
	loggingPod(t, c, ns, "twice", `[ ! -e again ] || { echo out; echo err >&2; exec sleep 1000; }; echo first >again; cat again; exit 1`, corev1.RestartPolicyAlways)
	pod(t, c, ns, "twice", func(p *corev1.Pod) bool { return isReady(p) && p.Status.ContainerStatuses[0].RestartCount == 1 })
	for want, options := range map[string]corev1.PodLogOptions{
		"out\nerr\n": {}, "err\n": {TailLines: ptr.To[int64](1)}, "ou": {LimitBytes: ptr.To[int64](2)}, "first\n": {Previous: true},
	} {
		eventually(t, "the log "+want, func(context.Context) error {
			got, err := log(t, c, ns, "twice", options)
			if err == nil && got != want {
				err = fmt.Errorf("it is %q", got)
			}
			return err
		})
	}
	if got, err := log(t, c, ns, "twice", corev1.PodLogOptions{Timestamps: true}); err == nil || !strings.Contains(err.Error(), "leave out --timestamps") {
		t.Errorf("with times: %q, %v", got, err)
	}
}

// A client that follows a log gets each line at once, the last one too, and sees the end.
func TestLogsAreFollowed(t *testing.T) {
	c, ns := everyones(t)
	loggingPod(t, c, ns, "slow", `echo first; until [ -e finish ]; do sleep 0.05; done; echo last`, corev1.RestartPolicyNever)
	own := pod(t, c, ns, "slow", isReady)
	stream, err := c.client.CoreV1().Pods(ns).GetLogs("slow", &corev1.PodLogOptions{Follow: true}).Stream(t.Context())
	must(t, err)
	defer stream.Close()
	lines := bufio.NewReader(stream)
	if first, err := lines.ReadString('\n'); err != nil || first != "first\n" {
		t.Fatalf("it begins with %q: %v", first, err)
	}
	work := filepath.Join(c.dir, "pods", fmt.Sprintf("%s_slow_%s", ns, own.UID), "main", "work")
	must(t, os.WriteFile(filepath.Join(work, "finish"), nil, 0o600))
	if rest, err := io.ReadAll(lines); err != nil || string(rest) != "last\n" {
		t.Errorf("it ends with %q: %v", rest, err)
	}
}

// A simulated pod answers that it has no log, and every pod that it cannot run commands.
func TestWhatPodsCannot(t *testing.T) {
	c, ns := everyones(t)
	deploy(t, c, ns, 1, nil)
	available(t, c, ns, 1)
	if says := c.kubectl(t, "-n", ns, "logs", "deployment/web"); says != "This pod is simulated: no process runs, so there is no output.\n" {
		t.Errorf("the log of a simulated pod is %q", says)
	}
	path, err := binary()
	must(t, err)
	for _, args := range [][]string{{"exec", "deployment/web", "--", "true"}, {"attach", "deployment/web"}, {"port-forward", "deployment/web", ":80"}} {
		kubectl := exec.CommandContext(t.Context(), path, append([]string{"kubectl", "--kubeconfig", c.kubeconfig, "-n", ns}, args...)...)
		if says, err := kubectl.CombinedOutput(); err == nil || !strings.Contains(string(says), "this local cluster runs no containers") {
			t.Errorf("kubectl %s: %v: %s", args[0], err, says)
		}
	}
}

// Logs are read through the API server, which authenticates the reader; the node answers no other client.
func TestNodeAnswersTheAPIServerAlone(t *testing.T) {
	c, _ := everyones(t)
	node, err := c.client.CoreV1().Nodes().Get(t.Context(), "devcluster", metav1.GetOptions{})
	must(t, err)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	url := fmt.Sprintf("https://127.0.0.1:%d/containerLogs/default/x/y", node.Status.DaemonEndpoints.KubeletEndpoint.Port)
	answer, err := (&http.Client{Transport: transport}).Get(url)
	if err == nil {
		answer.Body.Close()
		t.Fatalf("without a certificate: %s", answer.Status)
	}
	if !strings.Contains(err.Error(), "certificate required") {
		t.Error(err)
	}
}
