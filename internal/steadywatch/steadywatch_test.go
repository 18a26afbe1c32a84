package steadywatch

import (
	"context"
	"errors"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// server lists and watches ConfigMaps. While trouble is not nil, it answers nothing else.
type server struct {
	trouble atomic.Pointer[func() (watch.Interface, error)]
	asked   atomic.Int64
	open    atomic.Pointer[watch.FakeWatcher]
}

func (s *server) list(context.Context, metav1.ListOptions) (runtime.Object, error) {
	s.asked.Add(1)
	if trouble := s.trouble.Load(); trouble != nil {
		_, err := (*trouble)()
		if err == nil {
			err = syscall.ECONNREFUSED
		}
		return nil, err
	}
	return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
}

func (s *server) watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	s.asked.Add(1)
	if trouble := s.trouble.Load(); trouble != nil {
		return (*trouble)()
	}
	if options.SendInitialEvents != nil {
		return nil, apierrors.NewBadRequest("lists are not streamed")
	}
	s.open.Store(watch.NewFake())
	return s.open.Load(), nil
}

// After five minutes of any trouble a cache is up to date within a few seconds, and the API server was asked every few seconds.
func TestUpToDateSoonAfterTrouble(t *testing.T) {
	for name, trouble := range map[string]func() (watch.Interface, error){
		"429":                   func() (watch.Interface, error) { return nil, apierrors.NewTooManyRequests("busy", 1) },
		"500":                   func() (watch.Interface, error) { return nil, apierrors.NewInternalError(errors.New("etcd")) },
		"503":                   func() (watch.Interface, error) { return nil, apierrors.NewServiceUnavailable("starting") },
		"no connection":         func() (watch.Interface, error) { return nil, syscall.ECONNREFUSED },
		"connections are ended": func() (watch.Interface, error) { return watch.NewEmptyWatch(), nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				s, failures, inARow, over := &server{}, 0, 0, 0
				note := func(err error, n int) {
					if err == nil {
						over++
						return
					}
					failures, inARow = failures+1, max(inARow, n)
				}
				lw := &cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}
				informer := NewInformer(note)(lw, &corev1.ConfigMap{}, 0, cache.Indexers{})
				go informer.RunWithContext(ctx)
				time.Sleep(time.Second)
				s.trouble.Store(&trouble)
				s.open.Load().Stop()
				time.Sleep(5 * time.Minute)
				asked := s.asked.Load()
				s.trouble.Store(nil)
				time.Sleep(2 * pause)
				if again := s.open.Load(); !again.IsStopped() {
					again.Add(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web", ResourceVersion: "2"}})
				}
				synctest.Wait()
				if keys := informer.GetStore().ListKeys(); len(keys) != 1 {
					t.Errorf("the cache has %v", keys)
				}
				if least, most := int64(5*time.Minute/(2*pause)), int64(5*time.Minute/pause)+5; asked < least || asked > most {
					t.Errorf("asked %d times, want %d to %d", asked, least, most)
				}
				if failures < int(asked)-5 || inARow < failures-1 || over != 1 {
					t.Errorf("%d failures, %d in a row, and %d ends of them", failures, inARow, over)
				}
				stop()
				synctest.Wait()
			})
		})
	}
}

// What client-go has to act on is not repeated.
func TestWhatIsNotRepeated(t *testing.T) {
	for name, want := range map[string]error{
		"forbidden": apierrors.NewForbidden(corev1.Resource("configmaps"), "", errors.New("no")),
		"gone":      apierrors.NewResourceExpired("too old"),
		"not there": apierrors.NewNotFound(corev1.Resource("configmaps"), ""),
		"too new":   apierrors.NewTimeoutError("Too large resource version", 1),
	} {
		calls := 0
		_, err := repeated(t.Context(), func(error, int) {}, func() (int, error) { calls++; return 0, want })
		if calls != 1 || !errors.Is(err, want) {
			t.Errorf("%s: %d calls, %v", name, calls, err)
		}
	}
}
