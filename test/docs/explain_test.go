package docs_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"kyklos.io/kyklos/test/controlplane"
)

// explanation is what kyklos explain says of one schedule.
type explanation struct {
	Name, Answer                string
	Replicas, EffectiveReplicas *int32
	Facts                       []struct{ Topic, Text string }
}

// has reports whether a fact of the topic has the text in it.
func (e *explanation) has(topic, text string) bool {
	return slices.ContainsFunc(e.Facts, func(f struct{ Topic, Text string }) bool { return f.Topic == topic && strings.Contains(f.Text, text) })
}

// explains asks kyklos explain about schedules of a cluster and the state in which they are.
func explains(t *testing.T, cluster *controlplane.Cluster) {
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
	kubectl("", "apply", "-n", namespace, "-f", samplesDir+"/office-hours.yaml", "-f", samplesDir+"/node-agents.yaml", "-f", samplesDir+"/workspace-hours.yaml")
	kubectl(awayTarget, "apply", "-n", namespace, "-f", "-")

	eventually("webapp-office-hours", func(e *explanation) bool {
		return e.EffectiveReplicas != nil && e.has("target", "Deployment webapp is as it should be") && e.has("target", "written by kyklos-controller") && e.has("Ready", "True")
	})
	eventually("webapp-office-hours", func(e *explanation) bool {
		return e.EffectiveReplicas == nil && *e.Replicas == 10 && !e.has("target", "")
	}, "--at", "2026-11-23 10:00")
	eventually("profiler-days", func(e *explanation) bool { return e.has("target", "DaemonSet profiler is as it should be") })
	eventually("ada-office-hours", func(e *explanation) bool { return e.has("target", "its desiredState is") })
	eventually("away", func(e *explanation) bool {
		return strings.Contains(e.Answer, "There is nothing to scale: there is no ReplicationController away.") && e.has("Ready", "False")
	})

	kubectl("", "patch", "-n", namespace, "timewindowscalers", "webapp-office-hours", "--type=merge", "-p", `{"spec":{"pause":true}}`)
	kubectl("", "scale", "-n", namespace, "deployment", "webapp", "--replicas=5")
	kubectl("", "autoscale", "-n", namespace, "deployment", "webapp", "--max=7")
	eventually("webapp-office-hours", func(e *explanation) bool {
		return strings.Contains(e.Answer, "It is paused (spec.pause), so Kyklos leaves Deployment webapp with 5.") &&
			e.has("target", "its spec asks for 5") && e.has("target", "written by kubectl") && e.has("autoscaler", "webapp") && e.has("Ready", "pause=true")
	})
}

// awayTarget is a schedule without its target, which is of a kind that is looked up.
const awayTarget = `
apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata: {name: away}
spec:
  targetRef: {apiVersion: v1, kind: ReplicationController, name: away}
  timezone: UTC
  windows: [{days: [Mon], start: "09:00", end: "17:00", replicas: 1}]
`

// explainOne runs kyklos explain for one schedule.
func explainOne(t *testing.T, cluster *controlplane.Cluster, args ...string) *explanation {
	t.Helper()
	binary, err := controlplane.Binary("kyklos")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"explain", "-o", "json", "--kubeconfig", cluster.Kubeconfig}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Explanations []explanation }
	if err := json.Unmarshal(out, &all); err != nil || len(all.Explanations) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	return &all.Explanations[0]
}
