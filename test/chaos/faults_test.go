package chaos

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fault is a change that a person makes by hand.
type fault func(ctx context.Context, l *ledger, name string) error

// trigger reports whether a request of the manager triggers the fault. A nil trigger means the end of the step.
type trigger func(c *cohort, name string, m moment) bool

func before(what string) trigger {
	return func(_ *cohort, _ string, m moment) bool { return m.what == what && !m.after }
}

func after(what string) trigger {
	return func(_ *cohort, _ string, m moment) bool { return m.what == what && m.after }
}

// volumeAboutToGo: the status names the archive, and the volume is deleted next.
func volumeAboutToGo(c *cohort, name string, m moment) bool {
	if m.what != "PUT workspaces/status" || !m.after {
		return false
	}
	ws := c.named(name)
	err := admin.Get(context.WithoutCancel(c.Context()), client.ObjectKeyFromObject(ws), ws)
	return err == nil && ws.Status.Operation != nil && ws.Status.Operation.PointOfNoReturn
}

// deleteVolume deletes the PVC.
func deleteVolume(ctx context.Context, l *ledger, name string) error {
	return admin.Delete(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "ws-" + name + "-home"}})
}

// objects returns the files of a Workspace's archives with a suffix.
func (l *ledger) objects(name, suffix string) ([]string, error) {
	uid, _ := l.lookup(name)
	files, err := filepath.Glob(filepath.Join(l.store.Folder, "archives", uid, "*", "home.tar.gz"+suffix))
	if err == nil && len(files) == 0 {
		err = errors.New("there is no archive to damage")
	}
	return files, err
}

// deleteObjects deletes objects of the archive from the store.
func deleteObjects(suffix string) fault {
	return func(_ context.Context, l *ledger, name string) error {
		files, err := l.objects(name, suffix)
		for _, file := range files {
			err = errors.Join(err, os.Remove(file))
		}
		return err
	}
}

// rewriteObjects changes objects of the archive in the store.
func rewriteObjects(suffix string, how func([]byte) []byte) fault {
	return func(_ context.Context, l *ledger, name string) error {
		files, err := l.objects(name, suffix)
		for _, file := range files {
			content, bad := os.ReadFile(file)
			err = errors.Join(err, bad, os.WriteFile(file, how(content), 0o600))
		}
		return err
	}
}

func truncated(content []byte) []byte { return content[:len(content)/2] }

func corrupted(content []byte) []byte {
	changed := bytes.Clone(content)
	changed[len(changed)/2] ^= 0xff
	return changed
}
