package docs

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"

	"kyklos.io/kyklos/test/harness"
)

// explanation is the output of kyklos explain for one schedule.
type explanation struct {
	Name, Answer                string
	Replicas, EffectiveReplicas *int32
	Facts                       []struct{ Topic, Text string }
}

// has reports whether a fact of the topic contains the text.
func (e *explanation) has(topic, text string) bool {
	return slices.ContainsFunc(e.Facts, func(f struct{ Topic, Text string }) bool { return f.Topic == topic && strings.Contains(f.Text, text) })
}

// explains compares kyklos explain with the schedules of a cluster.
func explains(t *testing.T, cluster *harness.Cluster) {
	const namespace = "explain-sample"
	kubectl := func(stdin string, args ...string) {
		t.Helper()
		if _, stderr, err := cluster.Kubectl(t.Context(), stdin, args...); err != nil {
			t.Fatal(stderr, err)
		}
	}
	eventually := func(name string, holds func(*explanation) bool, args ...string) {
		t.Helper()
		var last *explanation
		err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, patience/4, true, func(context.Context) (bool, error) {
			last = explainOne(t, cluster, append([]string{name, "-n", namespace}, args...)...)
			return holds(last), nil
		})
		if err != nil {
			t.Errorf("%s %v: %+v", name, args, last)
		}
	}
	kubectl("", "create", "namespace", namespace)
	kubectl("", "apply", "-n", namespace, "-f", samplesDir+"/office-hours.yaml", "-f", samplesDir+"/node-agents.yaml", "-f", samplesDir+"/workspace-hours.yaml", "-f", samplesDir+"/holidays.yaml")
	kubectl(awayTarget, "apply", "-n", namespace, "-f", "-")

	eventually("webapp-office-hours", func(e *explanation) bool {
		return e.EffectiveReplicas != nil && e.has("target", "Deployment webapp is in sync") && e.has("target", "written by kyklos-controller") && e.has("Ready", "True")
	})
	eventually("webapp-office-hours", func(e *explanation) bool {
		return e.EffectiveReplicas == nil && *e.Replicas == 10 && !e.has("target", "")
	}, "--at", "2026-11-23 10:00")
	eventually("profiler-days", func(e *explanation) bool { return e.has("target", "DaemonSet profiler is in sync") })
	eventually("ada-office-hours", func(e *explanation) bool { return e.has("target", "its desiredState is") })
	eventually("away", func(e *explanation) bool {
		return strings.Contains(e.Answer, "There is nothing to scale: ReplicationController away does not exist.") && e.has("Ready", "False")
	})

	explainsWhatMayBeRead(t, cluster, namespace)
	kubectl("", "patch", "-n", namespace, "timewindowscalers", "webapp-office-hours", "--type=merge", "-p", `{"spec":{"pause":true}}`)
	kubectl("", "scale", "-n", namespace, "deployment", "webapp", "--replicas=5")
	kubectl("", "autoscale", "-n", namespace, "deployment", "webapp", "--max=7")
	eventually("webapp-office-hours", func(e *explanation) bool {
		return strings.Contains(e.Answer, "It is paused (spec.pause), so Kyklos leaves Deployment webapp at 5.") &&
			e.has("target", "its spec asks for 5") && e.has("target", "written by kubectl") && e.has("autoscaler", "webapp") && e.has("Ready", "pause=true")
	})
}

// explainsWhatMayBeRead runs kyklos explain as a user who may only read TimeWindowScalers, and as one without any
// permission.
func explainsWhatMayBeRead(t *testing.T, cluster *harness.Cluster, namespace string) {
	t.Helper()
	for _, args := range [][]string{
		{"create", "role", "reader", "--verb=get,list", "--resource=timewindowscalers.kyklos.io"},
		{"create", "rolebinding", "reader", "--role=reader", "--user=ada"},
	} {
		if _, stderr, err := cluster.Kubectl(t.Context(), "", append(args, "-n", namespace)...); err != nil {
			t.Fatal(stderr, err)
		}
	}
	as := func(user string) []string {
		config, err := clientcmd.LoadFromFile(cluster.Kubeconfig)
		harness.Must(t, err)
		for _, auth := range config.AuthInfos {
			auth.Impersonate = user
		}
		path := filepath.Join(t.TempDir(), user)
		harness.Must(t, clientcmd.WriteToFile(*config, path))
		return []string{"webapp-office-hours", "-n", namespace, "--kubeconfig", path}
	}
	e := explainOne(t, cluster, as("ada")...)
	if !e.has("unknown", "you may not read the target") || !e.has("unknown", "you may not read the HorizontalPodAutoscalers") || e.has("unknown", "other TimeWindowScalers") || e.has("target", "") {
		t.Errorf("%+v", e)
	}
	binary, _ := harness.Binary("kyklos")
	table, err := exec.CommandContext(t.Context(), binary, append([]string{"preview"}, as("ada")[1:]...)...).CombinedOutput()
	for _, part := range []string{"webapp-office-hours scales", "back-office-weekdays scales", "you may not read ConfigMap public-holidays"} {
		if err != nil || !strings.Contains(string(table), part) {
			t.Errorf("%v: no %q in\n%s", err, part, table)
		}
	}
	begun := append([]string{"__complete", "explain"}, as("ada")[1:]...)
	names, err := exec.CommandContext(t.Context(), binary, append(begun, "web")...).Output()
	if err != nil || string(names) != "webapp-office-hours\n:4\n" {
		t.Errorf("%v: completed by %q", err, names)
	}
	out, err := exec.CommandContext(t.Context(), binary, append([]string{"explain"}, as("grace")...)...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is forbidden") {
		t.Errorf("%v: %s", err, out)
	}
}

// awayTarget is a schedule without its target, whose kind is looked up.
const awayTarget = `
apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata: {name: away}
spec:
  targetRef: {apiVersion: v1, kind: ReplicationController, name: away}
  timezone: UTC
  windows: [{days: [Mon], start: "09:00", end: "17:00", replicas: 1}]
  defaultReplicas: 0
`

// explainOne runs kyklos explain for one schedule.
func explainOne(t *testing.T, cluster *harness.Cluster, args ...string) *explanation {
	t.Helper()
	binary, err := harness.Binary("kyklos")
	harness.Must(t, err)
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"explain", "-o", "json", "--kubeconfig", cluster.Kubeconfig}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	harness.Must(t, err)
	var all struct{ Explanations []explanation }
	if err := json.Unmarshal(out, &all); err != nil || len(all.Explanations) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	return &all.Explanations[0]
}
