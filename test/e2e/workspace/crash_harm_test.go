package workspace

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

// harm is what somebody does by hand.
type harm func(ctx context.Context, b *books, name string) error

// when is the moment at which it is done: at a request of the manager, or, if it is nil, when the step is over.
type when func(c *crew, name string, m moment) bool

func before(what string) when {
	return func(_ *crew, _ string, m moment) bool { return m.what == what && !m.after }
}

func after(what string) when {
	return func(_ *crew, _ string, m moment) bool { return m.what == what && m.after }
}

// condemned: the archive is recorded, and the volume about to be deleted.
func condemned(c *crew, name string, m moment) bool {
	if m.what != "PUT workspaces/status" || !m.after {
		return false
	}
	ws := c.named(name)
	err := admin.Get(context.WithoutCancel(c.Context()), client.ObjectKeyFromObject(ws), ws)
	return err == nil && ws.Status.Operation != nil && ws.Status.Operation.PointOfNoReturn
}

// takeVolume deletes the claim.
func takeVolume(ctx context.Context, b *books, name string) error {
	return admin.Delete(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "ws-" + name + "-home"}})
}

// objects are the files of a Workspace's archive, with a suffix.
func (b *books) objects(name, suffix string) ([]string, error) {
	uid, _ := b.of(name)
	files, err := filepath.Glob(filepath.Join(b.store.Folder, "archives", uid, "*", "home.tar.gz"+suffix))
	if err == nil && len(files) == 0 {
		err = errors.New("there is no archive to spoil")
	}
	return files, err
}

// remove deletes objects of the archive from the store.
func remove(suffix string) harm {
	return func(_ context.Context, b *books, name string) error {
		files, err := b.objects(name, suffix)
		for _, file := range files {
			err = errors.Join(err, os.Remove(file))
		}
		return err
	}
}

// change rewrites objects of the archive in the store.
func change(suffix string, how func([]byte) []byte) harm {
	return func(_ context.Context, b *books, name string) error {
		files, err := b.objects(name, suffix)
		for _, file := range files {
			content, bad := os.ReadFile(file)
			err = errors.Join(err, bad, os.WriteFile(file, how(content), 0o600))
		}
		return err
	}
}

func half(content []byte) []byte { return content[:len(content)/2] }

func flipped(content []byte) []byte {
	changed := bytes.Clone(content)
	changed[len(changed)/2] ^= 0xff
	return changed
}
