package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// Volume is a folder that follows a Secret like a kubelet's volume. It swaps one symbolic link, so that a reader sees the keys
// of one state of the Secret.
type Volume struct {
	dir  string
	held map[string][]byte

	stop context.CancelFunc
	done chan struct{}
	err  error // read after done
}

// MountSecret mounts a Secret in dir, which must exist, and waits for its keys. A change of the Secret follows after lag; a
// kubelet takes up to 90 seconds. The keys stay if the Secret is deleted.
func (c *Cluster) MountSecret(ctx context.Context, namespace, name, dir string, lag time.Duration) (*Volume, error) {
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return nil, err
	}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	v := &Volume{dir: dir, stop: stop, done: make(chan struct{})}
	source := cache.NewListWatchFromClient(clients.CoreV1().RESTClient(), "secrets", namespace, fields.OneTermEqualSelector(metav1.ObjectNameField, name))
	_, _, watcher, _ := watchtools.NewIndexerInformerWatcher(source, &corev1.Secret{})
	mounted := make(chan struct{})
	go func() {
		defer close(v.done)
		defer watcher.Stop()
		v.err = v.follow(watching, watcher.ResultChan(), lag, mounted)
	}()
	select {
	case <-mounted:
		return v, nil
	case <-v.done:
		return nil, v.err
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("mount the Secret %s/%s: %w", namespace, name, ctx.Err()), v.Close())
	}
}

// Close stops following and returns the error, if any. The files stay.
func (v *Volume) Close() error {
	v.stop()
	<-v.done
	return v.err
}

// follow writes every state of the Secret and closes mounted after the first.
func (v *Volume) follow(ctx context.Context, events <-chan watch.Event, lag time.Duration, mounted chan<- struct{}) error {
	for first := true; ; {
		select {
		case <-ctx.Done():
			return nil
		case event := <-events:
			secret, ok := event.Object.(*corev1.Secret)
			if !ok || event.Type == watch.Deleted {
				continue
			}
			if !first && !passed(ctx, lag) {
				return nil
			}
			if err := v.write(secret.Data); err != nil {
				return fmt.Errorf("write the volume of the Secret %s: %w", secret.Name, err)
			}
			if first {
				first = false
				close(mounted)
			}
		}
	}
}

func passed(ctx context.Context, lag time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(lag):
		return true
	}
}

// write points the link ..data to a new folder. The links of all keys go through it.
func (v *Volume) write(keys map[string][]byte) error {
	if v.held != nil && maps.EqualFunc(keys, v.held, func(a, b []byte) bool { return string(a) == string(b) }) {
		return nil
	}
	data, swap := filepath.Join(v.dir, "..data"), filepath.Join(v.dir, "..data_tmp")
	before, err := os.Readlink(data)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	fresh, err := os.MkdirTemp(v.dir, "..state-")
	if err != nil {
		return err
	}
	for key, content := range keys {
		if err := os.WriteFile(filepath.Join(fresh, key), content, 0o600); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Symlink(filepath.Base(fresh), swap), os.Rename(swap, data)); err != nil {
		return err
	}
	if err := v.link(keys); err != nil {
		return err
	}
	v.held = maps.Clone(keys)
	if before == "" {
		return nil
	}
	return os.RemoveAll(filepath.Join(v.dir, before))
}

// link creates the links of new keys and deletes those of old ones.
func (v *Volume) link(keys map[string][]byte) error {
	var errs []error
	for key := range keys {
		if _, had := v.held[key]; !had {
			errs = append(errs, os.Symlink(filepath.Join("..data", key), filepath.Join(v.dir, key)))
		}
	}
	for key := range v.held {
		if _, has := keys[key]; !has {
			errs = append(errs, os.Remove(filepath.Join(v.dir, key)))
		}
	}
	return errors.Join(errs...)
}
