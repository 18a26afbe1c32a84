package workspace

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/controlplane"
)

// BenchmarkPlanCycle measures one full cycle over Workspaces at rest (W41): the built manager on a real API
// server looks at each of them once a minute. ms/cycle is what all these looks together take, one after
// another; ten workers share it. requests are all that the manager sends meanwhile, watches that are
// renewed among them.
func BenchmarkPlanCycle(b *testing.B) {
	ctx := b.Context()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "cycle-"}}
	if err := admin.Create(ctx, ns); err != nil {
		b.Fatal(err)
	}
	manager, err := cluster.StartManager(ctx, controlplane.ManagerOptions{Args: []string{
		"--namespaces=" + ns.Name, "--leader-elect=false", "--webhooks=false", "--storage-migration=false",
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = manager.Kill() })
	made := 0
	for _, many := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(many), func(b *testing.B) {
			for ; made < many; made++ {
				atRest(b, ns.Name, fmt.Sprintf("ws-%d", made))
			}
			awaitRest(b, ns.Name, many)
			for b.Loop() {
				before := quiet(b, manager)
				seen := before
				for seen.passes < before.passes+float64(many) {
					time.Sleep(time.Second)
					seen = scrape(b, manager)
				}
				perPass := (seen.seconds - before.seconds) / (seen.passes - before.passes)
				b.ReportMetric(1000*perPass*float64(many), "ms/cycle")
				b.ReportMetric(seen.requests-before.requests, "requests")
			}
			b.ReportMetric(0, "ns/op") // how long a minute is
		})
	}
}

// atRest makes a Workspace whose home is on its volume and that nobody wants to run.
func atRest(b *testing.B, namespace, name string) {
	b.Helper()
	ws := &v1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.WorkspaceSpec{
			DesiredState:   v1alpha1.DesiredStandby,
			WorkspacePod:   v1alpha1.WorkspacePod{Image: "example.com/ide:1", TerminationGracePeriodSeconds: 5},
			Storage:        v1alpha1.WorkspaceStorage{Size: "1Gi", AccessMode: "ReadWriteOnce", MountPath: "/home/coder"},
			Timeouts:       v1alpha1.WorkspaceTimeouts{ProvisioningSeconds: 300, RestoringSeconds: 300, ArchivingSeconds: 300, StartingSeconds: 300, StoppingSeconds: 300, DeletingSeconds: 300},
			DeletionPolicy: v1alpha1.DeletionDelete,
		},
	}
	if err := admin.Create(b.Context(), ws); err != nil {
		b.Fatal(err)
	}
}

func awaitRest(b *testing.B, namespace string, many int) {
	b.Helper()
	err := wait.PollUntilContextTimeout(b.Context(), time.Second, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		var list v1alpha1.WorkspaceList
		if err := admin.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return false, err
		}
		settled := 0
		for i := range list.Items {
			if isSettled(&list.Items[i], standby) {
				settled++
			}
		}
		return settled == many, nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// quiet waits until the manager asks nothing of the API server any more, and returns what it has done.
func quiet(b *testing.B, manager *controlplane.Manager) work {
	b.Helper()
	for last := scrape(b, manager); ; {
		time.Sleep(5 * time.Second)
		now := scrape(b, manager)
		if now.requests == last.requests {
			return now
		}
		last = now
	}
}

// work is what a manager has done so far.
type work struct{ passes, seconds, requests float64 }

func scrape(b *testing.B, manager *controlplane.Manager) (done work) {
	b.Helper()
	answer, err := http.Get(manager.MetricsURL)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		value, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
		case name == `controller_runtime_reconcile_time_seconds_count{controller="workspace"}`:
			done.passes = value
		case name == `controller_runtime_reconcile_time_seconds_sum{controller="workspace"}`:
			done.seconds = value
		case strings.HasPrefix(name, "rest_client_requests_total{"):
			done.requests += value
		}
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
	return done
}
