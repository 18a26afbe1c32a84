package workspace

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
)

// patience bounds every wait; only a failing test takes it.
const patience = 90 * time.Second

// name is each stage's one Workspace's.
const name = "home"

// stage is one test's namespace with a Workspace, and the managers that serve it.
type stage struct {
	*testing.T
	namespace string
	log       harness.Log
}

// newStage makes a namespace with the Secret of the store.
func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "workspace-", Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted",
	}}}
	s := &stage{T: t}
	s.must(admin.Create(t.Context(), ns))
	s.namespace = ns.Name
	s.must(admin.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "store"},
		StringData: map[string]string{
			"endpoint": store.Endpoint, "region": "us-east-1", "bucket": store.Bucket, "accessKeyID": store.AccessKeyID, "secretAccessKey": store.SecretAccessKey,
		},
	}))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the workspace: %s\nthe managers logged:\n%s", harness.Show(s.workspace().Status), s.log.String())
		}
	})
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// manager starts a manager of this namespace alone, through proxy if there is one, and waits for it.
func (s *stage) manager(proxy *harness.Proxy) *harness.Manager {
	s.Helper()
	kyklos, err := harness.Binary("kyklos")
	s.must(err)
	m, err := cluster.StartManager(s.Context(), harness.ManagerOptions{
		Proxy: proxy, Log: &s.log,
		Args: []string{
			"--namespaces=" + s.namespace, "--leader-elect=false", "--webhooks=false", "--storage-migration=false", "--log-format=text",
			"--mover-image=" + harness.HostImage(kyklos),
		},
	})
	s.must(err)
	s.Cleanup(func() { _ = m.Kill() })
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	s.must(m.AwaitReady(ctx))
	return m
}

// create makes the Workspace, which is to run the program with these arguments.
func (s *stage) create(program string, args ...string) {
	s.Helper()
	s.must(admin.Create(s.Context(), s.spec(name, program, args...)))
}

// spec is a Workspace that is not made yet.
func (s *stage) spec(name, program string, args ...string) *v1alpha1.Workspace {
	return &v1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: v1alpha1.WorkspaceSpec{
			DesiredState: v1alpha1.DesiredRunning,
			WorkspacePod: v1alpha1.WorkspacePod{Image: harness.HostImage(program), Args: args, TerminationGracePeriodSeconds: 5},
			Storage:      v1alpha1.WorkspaceStorage{Size: "1Gi", AccessMode: "ReadWriteOnce", MountPath: "/home/coder"},
			Archive:      &v1alpha1.WorkspaceArchive{StoreRef: v1alpha1.StoreRef{Name: "store"}, Retain: 1},
			Timeouts: v1alpha1.WorkspaceTimeouts{
				ProvisioningSeconds: 300, RestoringSeconds: 1800, ArchivingSeconds: 1800, StartingSeconds: 300, StoppingSeconds: 300, DeletingSeconds: 600,
			},
			DeletionPolicy: v1alpha1.DeletionDelete,
		},
	}
}

// workspace is the Workspace as it is now; an empty one if there is none.
func (s *stage) workspace() *v1alpha1.Workspace {
	s.Helper()
	var ws v1alpha1.Workspace
	ctx := context.WithoutCancel(s.Context()) // also asked when the test is over
	if err := admin.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, &ws); err != nil && !apierrors.IsNotFound(err) {
		s.Fatal(err)
	}
	return &ws
}

// await waits until the Workspace is as wanted.
func (s *stage) await(what string, wanted func(*v1alpha1.Workspace) bool) (ws *v1alpha1.Workspace) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		ws = s.workspace()
		return wanted(ws), nil
	})
	if err != nil {
		s.Fatalf("the workspace is not %s: %v", what, err)
	}
	return ws
}

// settled waits until the Workspace shows the state, has no operation and is Ready.
func (s *stage) settled(state string) *v1alpha1.Workspace {
	s.Helper()
	return s.await(state, func(ws *v1alpha1.Workspace) bool { return isSettled(ws, state) })
}

func isSettled(ws *v1alpha1.Workspace, state string) bool {
	return ws.Status.DisplayState == state && ws.Status.ObservedGeneration == ws.Generation &&
		ws.Status.Operation != nil && ws.Status.Operation.Type == v1alpha1.OperationNone
}

// change merges a patch of the spec into the Workspace's, as its user does.
func (s *stage) change(spec string) {
	s.Helper()
	ws := &v1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	s.must(admin.Patch(s.Context(), ws, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`)), client.FieldOwner("user")))
}

// desiredBy says who wrote spec.desiredState last.
func (s *stage) desiredBy() string {
	s.Helper()
	for _, entry := range s.workspace().ManagedFields {
		if entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"f:desiredState"`) {
			return entry.Manager
		}
	}
	return ""
}

// home is the folder of the Workspace's home, as its Pod and this test see it.
func (s *stage) home() string {
	s.Helper()
	volume := s.workspace().Status.Volume
	if volume == nil || volume.UID == "" {
		s.Fatal("the workspace has no volume")
	}
	return filepath.Join(cluster.VolumeFolder(types.UID(volume.UID)), "home")
}

// pod is the Workspace's.
func (s *stage) pod() *corev1.Pod {
	s.Helper()
	var pod corev1.Pod
	s.must(admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "ws-" + name}, &pod))
	return &pod
}
