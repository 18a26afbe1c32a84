// Package holidaywatch watches the ConfigMaps that schedules take their holidays from, each by its name, as a
// kubelet watches those of its pods. No other ConfigMap of the cluster is read.
package holidaywatch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/schedule"
)

// Source is what is known about one ConfigMap.
type Source struct {
	// Keys are those of the ConfigMap, sorted; if it is gone, those that it last had.
	Keys []string
	// Gone is when it was first found missing; zero while it exists.
	Gone time.Time
	// Seen: it has existed since the manager started.
	Seen bool
}

// Watches are the watches of all ConfigMaps with holidays.
type Watches struct {
	// Reader reads from the API server: the first answer about a ConfigMap, before its watch has one.
	Reader client.Reader
	// Lister lists and watches one ConfigMap; nil for none, and every answer comes from Reader.
	Lister func(source types.NamespacedName) cache.ListerWatcher
	Clock  clock.PassiveClock
	// Changed is called when the keys of a ConfigMap changed, when it came and when it went.
	Changed func(source types.NamespacedName)

	mu      sync.Mutex
	ctx     context.Context // nil until Start
	sources map[types.NamespacedName]*named
	uses    map[types.NamespacedName]types.NamespacedName // of scalers
}

// Start starts the watches, and ends them with ctx.
func (w *Watches) Start(ctx context.Context) error {
	w.mu.Lock()
	w.ctx = ctx
	for key, one := range w.sources {
		w.run(key, one)
	}
	w.mu.Unlock()
	<-ctx.Done()
	return nil
}

// Read returns what is known about the ConfigMap of a scaler's holidays, and watches it until the scaler has
// another one or none.
func (w *Watches) Read(ctx context.Context, scaler, source types.NamespacedName) (Source, error) {
	one := w.use(scaler, source)
	if known, watched := one.answer(); watched {
		return known, nil
	}
	var object corev1.ConfigMap
	err := w.Reader.Get(ctx, source, &object)
	switch {
	case apierrors.IsNotFound(err):
		one.set(nil, true)
	case err != nil:
		return Source{}, fmt.Errorf("get ConfigMap %s: %w", source.Name, err)
	default:
		one.set(&object, true)
	}
	known, _ := one.answer()
	return known, nil
}

// Release ends the use of holidays by a scaler.
func (w *Watches) Release(scaler types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	source, used := w.uses[scaler]
	if !used {
		return
	}
	delete(w.uses, scaler)
	one := w.sources[source]
	if one.users--; one.users > 0 {
		return
	}
	if one.stop != nil {
		one.stop()
	}
	delete(w.sources, source)
}

// use returns the watch of a ConfigMap, and starts one for its first user.
func (w *Watches) use(scaler, source types.NamespacedName) *named {
	w.mu.Lock()
	last, used := w.uses[scaler]
	w.mu.Unlock()
	if used && last != source {
		w.Release(scaler)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sources == nil {
		w.sources, w.uses = map[types.NamespacedName]*named{}, map[types.NamespacedName]types.NamespacedName{}
	}
	one := w.sources[source]
	if one == nil {
		one = &named{now: w.Clock.Now, changed: func() { w.Changed(source) }}
		w.sources[source] = one
		w.run(source, one)
	}
	if w.uses[scaler] != source {
		w.uses[scaler] = source
		one.users++
	}
	return one
}

// run starts a watch, once the manager is started. The lock is held.
func (w *Watches) run(source types.NamespacedName, one *named) {
	if w.ctx == nil || w.Lister == nil {
		return
	}
	var ctx context.Context
	ctx, one.stop = context.WithCancel(w.ctx)
	reflector := cache.NewReflectorWithOptions(w.Lister(source), &corev1.ConfigMap{}, one, cache.ReflectorOptions{Name: "holidays " + source.String()})
	go reflector.RunWithContext(ctx)
}

// named is what is known about one ConfigMap, and the store that its reflector fills. users and stop are guarded
// by Watches.mu.
type named struct {
	now     func() time.Time
	changed func()
	users   int
	stop    context.CancelFunc

	mu sync.Mutex
	// known: there is an answer; watched: it comes from the watch.
	known, watched bool
	source         Source
}

func (o *named) answer() (source Source, watched bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.source, o.watched
}

// set takes an answer, nil if the ConfigMap does not exist. One that was read comes too late if the watch has one.
func (o *named) set(object *corev1.ConfigMap, read bool) {
	o.mu.Lock()
	if read && o.watched {
		o.mu.Unlock()
		return
	}
	before, wasKnown := o.source, o.known
	o.known, o.watched = true, !read
	if object != nil {
		o.source = Source{Keys: schedule.HolidayKeys(object), Seen: true}
	} else if o.source.Gone.IsZero() {
		o.source.Gone = o.now()
	}
	differs := wasKnown && (before.Gone.IsZero() != o.source.Gone.IsZero() || !slices.Equal(before.Keys, o.source.Keys))
	o.mu.Unlock()
	if differs && !read {
		o.changed()
	}
}

// Add, Update, Delete, Replace and Resync implement cache.ReflectorStore.

func (o *named) Add(object any) error { return o.take(object) }

func (o *named) Update(object any) error { return o.take(object) }

func (o *named) Delete(any) error { return o.take(nil) }

func (o *named) Replace(objects []any, _ string) error {
	if len(objects) == 0 {
		return o.take(nil)
	}
	return o.take(objects[0])
}

func (o *named) Resync() error { return nil }

func (o *named) take(object any) error {
	if object == nil {
		o.set(nil, false)
		return nil
	}
	configMap, ok := object.(*corev1.ConfigMap)
	if !ok {
		return fmt.Errorf("a watch of a ConfigMap has a %T", object)
	}
	o.set(configMap, false)
	return nil
}
