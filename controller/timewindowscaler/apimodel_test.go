package timewindowscaler

import (
	"errors"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// apiModel models an API server with one TimeWindowScaler and some Deployments, and the caches of a manager. Each object has a
// watch of its own, which may be late by any number of changes.
type apiModel struct {
	// version is the last resourceVersion, uids counts the objects that were created.
	version, uids int64
	objects       map[string]*history
	// answer is what happens to the next write: it is answered, or it is lost on the way there or back.
	answer answer
	// meanwhile runs once, just before the next write arrives.
	meanwhile func()
	// gets counts the reads of single objects in the cache.
	gets int
	// scaled is told of each write to a target that changed its count, and refused of each that the manager's
	// own last write made outdated, although that was answered.
	scaled  func(name string, count int32)
	refused func(what string)
	// own has the version of the manager's last answered write, by the object's UID. It forgets a target when it reads
	// another, and all when it finds the scaler gone. absent has what it was told is gone.
	own    map[string]string
	absent map[string]bool
}

// start forgets what a manager was told.
func (m *apiModel) start() { m.own, m.absent = map[string]string{}, map[string]bool{} }

// history is the states of one object in their order, nil while it does not exist. The cache has the state at seen.
type history struct {
	states []client.Object
	seen   int
}

type answer int

const (
	arrives answer = iota
	requestLost
	answerLost
)

var errLost = errors.New("connection reset by peer")

func scalerAt(name string) string { return "scaler/" + name }
func targetAt(name string) string { return "target/" + name }

// locate returns where an object of this type and name is.
func (m *apiModel) locate(object client.Object, name string) *history {
	switch object.(type) {
	case *v1beta1.TimeWindowScaler:
		return m.objects[scalerAt(name)]
	case *appsv1.Deployment:
		return m.objects[targetAt(name)]
	default: // a ConfigMap, or metadata for the name of a rival: there is none
		return nil
	}
}

func (h *history) now() client.Object {
	if h == nil || len(h.states) == 0 {
		return nil
	}
	return h.states[len(h.states)-1]
}

func (h *history) cached() client.Object {
	if h == nil || len(h.states) == 0 {
		return nil
	}
	return h.states[h.seen]
}

// store makes object the newest state, as a new version.
func (m *apiModel) store(at string, object client.Object) {
	m.version++
	object.SetResourceVersion(strconv.FormatInt(m.version, 10))
	m.append(at, object)
}

// append makes object the newest state as it is.
func (m *apiModel) append(at string, object client.Object) {
	if m.objects[at] == nil {
		m.objects[at] = &history{states: []client.Object{nil}}
	}
	m.objects[at].states = append(m.objects[at].states, object)
}

// create stores a new object.
func (m *apiModel) create(at string, object client.Object) {
	m.uids++
	object.SetUID(types.UID(strconv.FormatInt(m.uids, 10)))
	object.SetGeneration(1)
	m.absent[at] = false
	m.store(at, object)
}

func (m *apiModel) remove(at string) {
	m.version++
	m.append(at, nil)
}

// change stores a changed copy of what there is.
func change[T client.Object](m *apiModel, at string, edit func(T)) {
	object := m.objects[at].now().DeepCopyObject().(T)
	edit(object)
	m.store(at, object)
}
