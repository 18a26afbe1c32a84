package workspace

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
)

// BenchmarkPlanCycle measures one full cycle over Workspaces at rest (W41): the built manager on a real API
// server looks at each of them once a minute. ms/cycle is what all these looks together take, one after
// another; ten workers share it. requests are all that the manager sends meanwhile.
func BenchmarkPlanCycle(b *testing.B) {
	ctx := b.Context()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "cycle-"}}
	if err := admin.Create(ctx, ns); err != nil {
		b.Fatal(err)
	}
	rest := firstAtRest(b, ns.Name)
	made := 1
	for _, many := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(many), func(b *testing.B) {
			var group errgroup.Group
			group.SetLimit(10)
			for ; made < many; made++ {
				name := fmt.Sprintf("copy-%d", made)
				group.Go(func() error { return rest.copy(ctx, name) })
			}
			if err := group.Wait(); err != nil {
				b.Fatal(err)
			}
			manager := serve(b, ns.Name)
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
			if err := manager.Kill(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// serve starts a manager of this namespace alone.
func serve(b *testing.B, namespace string) *harness.Manager {
	b.Helper()
	manager, err := cluster.StartManager(b.Context(), harness.ManagerOptions{Args: []string{
		"--namespaces=" + namespace, "--leader-elect=false", "--webhooks=false", "--storage-migration=false",
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = manager.Kill() })
	if err := manager.AwaitReady(b.Context()); err != nil {
		b.Fatal(err)
	}
	return manager
}

// pair is a Workspace at rest, and the claim with its home.
type pair struct {
	workspace v1alpha1.Workspace
	claim     corev1.PersistentVolumeClaim
}

// firstAtRest has Kyklos make a Workspace whose home is on its volume and that nobody wants to run.
func firstAtRest(b *testing.B, namespace string) (p pair) {
	b.Helper()
	p.workspace = v1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "first"},
		Spec: v1alpha1.WorkspaceSpec{
			DesiredState:   v1alpha1.DesiredStandby,
			WorkspacePod:   v1alpha1.WorkspacePod{Image: "example.com/ide:1", TerminationGracePeriodSeconds: 5},
			Storage:        v1alpha1.WorkspaceStorage{Size: "1Gi", AccessMode: "ReadWriteOnce", MountPath: "/home/coder"},
			Timeouts:       v1alpha1.WorkspaceTimeouts{ProvisioningSeconds: 300, RestoringSeconds: 300, ArchivingSeconds: 300, StartingSeconds: 300, StoppingSeconds: 300, DeletingSeconds: 300},
			DeletionPolicy: v1alpha1.DeletionDelete,
		},
	}
	if err := admin.Create(b.Context(), &p.workspace); err != nil {
		b.Fatal(err)
	}
	manager := serve(b, namespace)
	err := wait.PollUntilContextTimeout(b.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := admin.Get(ctx, client.ObjectKeyFromObject(&p.workspace), &p.workspace)
		return isSettled(&p.workspace, standby), err
	})
	if err == nil {
		quiet(b, manager)
		err = errors.Join(admin.Get(b.Context(), client.ObjectKeyFromObject(&p.workspace), &p.workspace),
			admin.Get(b.Context(), client.ObjectKey{Namespace: namespace, Name: "ws-first-home"}, &p.claim), manager.Kill())
	}
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// copy makes another one of that name, as if Kyklos had made it: it is at rest from its first look on.
func (p pair) copy(ctx context.Context, name string) error {
	ws := p.workspace.DeepCopy()
	ws.ObjectMeta = metav1.ObjectMeta{Namespace: ws.Namespace, Name: name, Finalizers: ws.Finalizers}
	if err := admin.Create(ctx, ws); err != nil {
		return err
	}
	renamed := func(from, into any) error {
		text, err := json.Marshal(from)
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(strings.NewReplacer("ws-first", "ws-"+name, string(p.workspace.UID), string(ws.UID), `"first"`, `"`+name+`"`).Replace(string(text))), into)
	}
	var claim corev1.PersistentVolumeClaim
	if err := renamed(p.claim, &claim); err != nil {
		return err
	}
	claim.UID, claim.ResourceVersion, claim.ManagedFields = "", "", nil
	if err := admin.Create(ctx, &claim); err != nil {
		return err
	}
	if err := renamed(p.workspace.Status, &ws.Status); err != nil {
		return err
	}
	ws.Status.ObservedGeneration, ws.Status.Volume.UID = ws.Generation, string(claim.UID)
	for i := range ws.Status.Conditions {
		ws.Status.Conditions[i].ObservedGeneration = ws.Generation
	}
	return admin.Status().Update(ctx, ws)
}

// quiet waits until the manager asks nothing of the API server any more, and returns what it has done.
func quiet(b *testing.B, manager *harness.Manager) effort {
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

// effort is what a manager has done so far.
type effort struct{ passes, seconds, requests float64 }

func scrape(b *testing.B, manager *harness.Manager) (done effort) {
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
