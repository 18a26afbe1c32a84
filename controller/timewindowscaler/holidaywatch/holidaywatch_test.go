package holidaywatch

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var (
	start  = time.Date(2026, 12, 25, 10, 0, 0, 0, time.UTC)
	web    = types.NamespacedName{Namespace: "shop", Name: "web"}
	api    = types.NamespacedName{Namespace: "shop", Name: "api"}
	public = types.NamespacedName{Namespace: "shop", Name: "public-holidays"}
	bank   = types.NamespacedName{Namespace: "shop", Name: "bank-holidays"}
)

func dates(key types.NamespacedName, dates ...string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, ResourceVersion: "1"}, Data: map[string]string{}}
	for _, date := range dates {
		c.Data[date] = "a text that is not kept"
	}
	return c
}

// server is an API server with ConfigMaps, and counts what is asked of it.
type server struct {
	*testing.T
	*Watches
	clock   *testclock.FakeClock
	gets    int
	watched map[types.NamespacedName]*watch.FakeWatcher
	lists   map[types.NamespacedName]*corev1.ConfigMap
	changes []types.NamespacedName
	refused error
}

func inBubble(t *testing.T, test func(*server), objects ...client.Object) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{T: t, clock: testclock.NewFakeClock(start), watched: map[types.NamespacedName]*watch.FakeWatcher{}, lists: map[types.NamespacedName]*corev1.ConfigMap{}}
		for _, object := range objects {
			s.lists[client.ObjectKeyFromObject(object)] = object.(*corev1.ConfigMap)
		}
		reader := clientfake.NewClientBuilder().WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
				if s.gets++; s.refused != nil {
					return s.refused
				}
				return c.Get(ctx, key, obj, o...)
			},
		}).Build()
		s.Watches = &Watches{Reader: reader, Clock: s.clock, Lister: s.lister, Changed: func(key types.NamespacedName) { s.changes = append(s.changes, key) }}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = s.Start(ctx) }()
		synctest.Wait()
		test(s)
		cancel()
		synctest.Wait()
	})
}

func (s *server) lister(key types.NamespacedName) cache.ListerWatcher {
	return &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
			if object := s.lists[key]; object != nil {
				list.Items = append(list.Items, *object)
			}
			return list, nil
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, errors.New("a list first, please")
			}
			s.watched[key] = watch.NewFake()
			return s.watched[key], nil
		},
	}
}

func (s *server) reads(scaler, source types.NamespacedName, want Source) {
	s.Helper()
	got, err := s.Read(s.Context(), scaler, source)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		s.Errorf("%v (-want +got)\n%s", err, diff)
	}
	synctest.Wait()
}

// One GET, then one watch for all scalers; its events alone are read, and only changes of the keys matter.
func TestAConfigMapIsWatchedByItsName(t *testing.T) {
	inBubble(t, func(s *server) {
		s.reads(web, public, Source{Keys: []string{"2026-12-25"}, Seen: true})
		s.reads(api, public, Source{Keys: []string{"2026-12-25"}, Seen: true})
		s.reads(web, public, Source{Keys: []string{"2026-12-25"}, Seen: true})
		if s.gets != 1 || len(s.watched) != 1 || len(s.changes) != 0 {
			t.Errorf("%d GETs, %d watches, wakes %v", s.gets, len(s.watched), s.changes)
		}
		same := dates(public, "2026-12-25")
		same.Data["2026-12-25"] = "another text"
		s.watched[public].Modify(same)
		synctest.Wait()
		if len(s.changes) != 0 {
			t.Errorf("woken by a value: %v", s.changes)
		}
		s.watched[public].Modify(dates(public, "2026-12-25", "2026-12-24"))
		synctest.Wait()
		s.reads(web, public, Source{Keys: []string{"2026-12-24", "2026-12-25"}, Seen: true})
		if !slices.Equal(s.changes, []types.NamespacedName{public}) {
			t.Errorf("wakes %v", s.changes)
		}
		binary := dates(public, "2026-12-24")
		binary.BinaryData = map[string][]byte{"2026-12-25": {0xff}}
		s.watched[public].Modify(binary) // the same keys
		synctest.Wait()
		s.reads(web, public, Source{Keys: []string{"2026-12-24", "2026-12-25"}, Seen: true})
		binary = binary.DeepCopy()
		binary.BinaryData["2026-12-26"] = nil
		s.watched[public].Modify(binary)
		synctest.Wait()
		s.reads(web, public, Source{Keys: []string{"2026-12-24", "2026-12-25", "2026-12-26"}, Seen: true})
		if len(s.changes) != 2 {
			t.Errorf("wakes %v", s.changes)
		}
	}, dates(public, "2026-12-25"))
}

// B6: what a deleted ConfigMap had is remembered with the time; what has none any more is not.
func TestADeletedConfigMapIsRemembered(t *testing.T) {
	inBubble(t, func(s *server) {
		s.reads(web, public, Source{Keys: []string{"2026-12-25"}, Seen: true})
		s.clock.Step(time.Hour)
		s.watched[public].Delete(dates(public, "2026-12-25"))
		synctest.Wait()
		gone := Source{Keys: []string{"2026-12-25"}, Seen: true, Gone: start.Add(time.Hour)}
		s.reads(web, public, gone)
		s.clock.Step(time.Minute)
		s.reads(web, public, gone)
		s.watched[public].Add(dates(public))
		synctest.Wait()
		s.reads(web, public, Source{Keys: []string{}, Seen: true})
		s.watched[public].Delete(dates(public))
		synctest.Wait()
		s.reads(web, public, Source{Keys: []string{}, Seen: true, Gone: start.Add(time.Hour + time.Minute)})
		if len(s.changes) != 3 {
			t.Errorf("wakes %v", s.changes)
		}
	}, dates(public, "2026-12-25"))
}

// After a restart a missing ConfigMap has no dates. It wakes its scalers when it comes.
func TestAConfigMapThatWasNeverSeen(t *testing.T) {
	inBubble(t, func(s *server) {
		s.reads(web, public, Source{Gone: start})
		s.watched[public].Add(dates(public, "2026-12-25"))
		synctest.Wait()
		s.reads(web, public, Source{Keys: []string{"2026-12-25"}, Seen: true})
		if len(s.changes) != 1 {
			t.Errorf("wakes %v", s.changes)
		}
	})
}

// A watch ends with its last scaler, and what it knew goes with it.
func TestAWatchEndsWithItsLastScaler(t *testing.T) {
	inBubble(t, func(s *server) {
		s.reads(web, public, Source{Keys: []string{"2026-12-25"}, Seen: true})
		s.reads(api, public, Source{Keys: []string{"2026-12-25"}, Seen: true})
		s.reads(api, bank, Source{Gone: start}) // another source
		if s.watched[public].IsStopped() {
			t.Error("the watch ended while it was used")
		}
		s.Release(web)
		s.Release(web)
		synctest.Wait()
		if !s.watched[public].IsStopped() || s.watched[bank].IsStopped() || len(s.sources) != 1 {
			t.Errorf("watches: %v", s.sources)
		}
	}, dates(public, "2026-12-25"))
}

// Until the watch has an answer, a failing GET fails the pass.
func TestAFailingRead(t *testing.T) {
	inBubble(t, func(s *server) {
		s.Lister, s.refused = nil, errors.New("no")
		if _, err := s.Read(t.Context(), web, public); !errors.Is(err, s.refused) {
			t.Errorf("got %v", err)
		}
	})
}
