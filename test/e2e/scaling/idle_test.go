package scaling

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	toolsevents "k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspaceidle"
	"kyklos.io/kyklos/internal/activity"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/test/harness"
)

// idleScenario is the namespace team with the Workspace ann. It has been RUNNING for ten minutes or in STANDBY for two days.
type idleScenario struct {
	*harness.T
}

var ann = client.ObjectKey{Namespace: "team", Name: "ann"}

func newIdleScenario(t *testing.T, phase v1alpha1.Phase) idleScenario {
	t.Helper()
	s := idleScenario{harness.NewT(t, cluster)}
	s.Must(client.IgnoreAlreadyExists(s.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ann.Namespace}})))
	s.Must(cluster.Apply(t.Context(), "{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {namespace: team, name: ann}, "+
		"spec: {desiredState: "+string(phase)+", image: busybox, archive: {storeRef: {name: store}}}}"))
	ws := s.read()
	t.Cleanup(func() {
		ctx := context.Background()
		s.Must(s.Client.Delete(ctx, ws))
		s.Must(client.IgnoreNotFound(s.Client.Delete(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ann.Namespace, Name: activity.LeaseName(ann.Name)}})))
	})
	ws.Status = v1alpha1.WorkspaceStatus{
		Phase: phase, RunningSince: ptr.To(metav1.NewTime(time.Now().Add(-10 * time.Minute))), StandbySince: ptr.To(metav1.NewTime(time.Now().Add(-48 * time.Hour))),
	}
	s.Must(s.Client.Status().Update(t.Context(), ws))
	return s
}

func (s idleScenario) read() *v1alpha1.Workspace {
	s.Helper()
	var ws v1alpha1.Workspace
	s.Get(ann.Namespace, ann.Name, &ws)
	return &ws
}

// manage runs controllers as the shipped ServiceAccount until stop is called.
func (s idleScenario) manage(setUp func(ctrl.Manager) error) (stop func()) {
	s.Helper()
	config, err := cluster.ManagerConfig(s.Context())
	s.Must(err)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: s.Client.Scheme(), Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{ann.Namespace: {}}},
	})
	s.Must(err)
	s.Must(setUp(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- mgr.Start(ctx) }()
	return func() {
		cancel()
		s.Must(<-stopped)
	}
}

// A heartbeat keeps an otherwise idle Workspace, and does not write it. Five minutes later the controller lowers it once,
// with its own field manager, and the event has the time of the last heartbeat.
func TestAnIdleWorkspace(t *testing.T) {
	s := newIdleScenario(t, "RUNNING")
	before := s.read().ResourceVersion
	s.documentedHeartbeat()
	if after := s.read().ResourceVersion; after != before {
		t.Errorf("the heartbeat changed the Workspace: resourceVersion %s, now %s", before, after)
	}
	var lease coordinationv1.Lease
	s.Get(ann.Namespace, activity.LeaseName(ann.Name), &lease)
	heard := lease.Spec.RenewTime.Time
	clock := clocktesting.NewFakePassiveClock(heard.Add(5*time.Minute - time.Second))
	defer s.manage(func(mgr ctrl.Manager) error { return workspaceidle.SetupWithManager(mgr, clock) })()
	s.Until("the Lease read", func() bool {
		asked, err := cluster.Audited(harness.ManagerUser)
		s.Must(err)
		text, err := json.Marshal(asked)
		s.Must(err)
		return bytes.Contains(text, []byte(activity.LeaseName(ann.Name)))
	})
	clock.SetTime(heard.Add(5 * time.Minute))
	for _, touch := range []string{"1", "2", "3"} {
		s.Patch(s.read(), `{"metadata": {"annotations": {"touched": "`+touch+`"}}}`)
		s.Until("STANDBY", func() bool { return s.read().Spec.DesiredState == v1alpha1.DesiredStandby })
	}
	ws := s.read()
	if ws.Generation != 2 {
		t.Errorf("got %d changes of the spec, want 1", ws.Generation-1)
	}
	if fields := string(fieldsOf(ws, workspaceidle.FieldManager)); fields != `{"f:spec":{"f:desiredState":{}}}` {
		t.Errorf("%s owns %s", workspaceidle.FieldManager, fields)
	}
	s.awaitEvent(ann.Namespace, events.ReasonWorkspaceIdle, "Not used since "+heard.UTC().Format(time.RFC3339))
}

// awaitEvent waits for an event.
func (s idleScenario) awaitEvent(namespace, reason, text string) {
	s.Helper()
	s.Until("the event "+reason, func() bool {
		var list corev1.EventList
		s.List(namespace, &list)
		return slices.ContainsFunc(list.Items, func(event corev1.Event) bool {
			return event.Reason == reason && strings.Contains(event.Message, text)
		})
	})
}

func fieldsOf(ws *v1alpha1.Workspace, manager string) []byte {
	for _, entry := range ws.ManagedFields {
		if entry.Manager == manager {
			return entry.FieldsV1.GetRawBytes()
		}
	}
	return nil
}

// documentedHeartbeat sends heartbeats as in docs/workspace-activity.md. The permissions of that page allow nothing else.
func (s idleScenario) documentedHeartbeat() {
	s.Helper()
	root := harness.RootFor(s)
	page, err := os.ReadFile(filepath.Join(root, "docs", "workspace-activity.md"))
	s.Must(err)
	role := regexp.MustCompile("(?s)```yaml\n([^`]*kind: Role\n.*?)```").FindSubmatch(page)[1]
	line := regexp.MustCompile("(?s)\\$ (kubectl apply .*?\nEOF\n)").FindSubmatch(page)[1]
	binding := "\n---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: proxy, namespace: team}, " +
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: heartbeat-ann}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: proxy}]}"
	s.Must(cluster.Apply(s.Context(), string(role)+binding))
	config, err := clientcmd.LoadFromFile(cluster.Kubeconfig)
	s.Must(err)
	for _, user := range config.AuthInfos {
		user.Impersonate = "proxy"
	}
	kubeconfig := filepath.Join(s.TempDir(), "kubeconfig")
	s.Must(clientcmd.WriteToFile(*config, kubeconfig))
	run := func(name string, args ...string) (string, error) {
		cmd := exec.CommandContext(s.Context(), name, args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
		output, err := cmd.CombinedOutput()
		return string(output), err
	}
	if output, err := run("sh", "-c", string(line)); err != nil {
		s.Fatalf("%s: %v: %s", line, err, output)
	}
	heartbeat := []string{"heartbeat", "--every", "0", "--namespace", ann.Namespace, "--workspace"}
	if output, err := run(filepath.Join(root, "bin", "kyklos"), append(heartbeat, ann.Name)...); err != nil {
		s.Fatalf("%v: %s", err, output)
	}
	if output, err := run(filepath.Join(root, "bin", "kyklos"), append(heartbeat, "bob")...); err == nil || !strings.Contains(output, "forbidden") {
		s.Errorf("a heartbeat for another Workspace: %v: %s", err, output)
	}
}

// D15: a write of another client between the controller's read and its write wins. If it left desiredState alone, the next
// pass continues.
func TestConcurrentWrite(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile, want string
	}{
		"a user raises":        {`{"spec": {"desiredState": "RUNNING"}}`, "RUNNING"},
		"something else moves": {`{"metadata": {"labels": {"x": "y"}}}`, "PENDING"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newIdleScenario(t, "STANDBY")
			raced := false
			live := interceptor.NewClient(s.Client, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
					err := c.Get(ctx, key, obj, opts...)
					if ws, ok := obj.(*v1alpha1.Workspace); ok && !raced {
						raced = true
						s.Must(c.Patch(ctx, ws.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(test.meanwhile))))
					}
					return err
				},
			})
			r := &workspaceidle.Reconciler{
				Client: s.Client, Live: live, Clock: clocktesting.NewFakePassiveClock(time.Now()), Events: events.NewRecorder(toolsevents.NewFakeRecorder(9)),
			}
			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: ann})
			if s.Must(err); result.RequeueAfter <= 0 || s.read().Spec.DesiredState == "PENDING" {
				t.Fatalf("%v, %s", result, s.read().Spec.DesiredState)
			}
			_, err = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: ann})
			if s.Must(err); string(s.read().Spec.DesiredState) != test.want {
				t.Errorf("%s, want %s", s.read().Spec.DesiredState, test.want)
			}
		})
	}
}
