package timewindowscaler

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	jsonpatch "github.com/evanphx/json-patch/v5"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
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
	// scaled is told of each write to a target that changed its count.
	scaled func(name string, count int32)
}

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

// copyInto answers a read.
func copyInto(found, object client.Object, name string) error {
	switch object := object.(type) {
	case *v1beta1.TimeWindowScaler:
		if found != nil {
			found.(*v1beta1.TimeWindowScaler).DeepCopyInto(object)
			return nil
		}
	case *appsv1.Deployment:
		if found != nil {
			found.(*appsv1.Deployment).DeepCopyInto(object)
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, name)
}

// modelReader reads past the cache.
type modelReader struct {
	client.Reader
	*apiModel
}

func (r modelReader) Get(_ context.Context, key types.NamespacedName, object client.Object, _ ...client.GetOption) error {
	return copyInto(r.locate(object, key.Name).now(), object, key.Name)
}

// modelClient reads from the cache and writes.
type modelClient struct {
	client.Client
	*apiModel
}

func (c modelClient) Get(_ context.Context, key types.NamespacedName, object client.Object, _ ...client.GetOption) error {
	return copyInto(c.locate(object, key.Name).cached(), object, key.Name)
}

func (c modelClient) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch list := list.(type) {
	case *v1beta1.TimeWindowScalerList: // one scaler; what it scales does not matter
		if tws := c.objects[scalerAt("web")].cached(); tws != nil {
			list.Items = []v1beta1.TimeWindowScaler{*tws.(*v1beta1.TimeWindowScaler)}
		}
	case *autoscalingv2.HorizontalPodAutoscalerList:
	}
	return nil
}

func (c modelClient) Status() client.SubResourceWriter { return modelWriter{apiModel: c.apiModel} }

func (c modelClient) SubResource(string) client.SubResourceClient {
	return modelWriter{apiModel: c.apiModel}
}

// modelWriter patches a scaler's status or a target's scale.
type modelWriter struct {
	client.SubResourceClient
	*apiModel
}

func (w modelWriter) Patch(_ context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	if meanwhile := w.meanwhile; meanwhile != nil {
		w.apiModel.meanwhile = nil
		meanwhile()
	}
	fate := w.answer
	w.apiModel.answer = arrives
	if fate == requestLost {
		return errLost
	}
	body, err := patch.Data(object)
	if err != nil {
		return err
	}
	stored := w.locate(object, object.GetName()).now()
	if stored == nil {
		return apierrors.NewNotFound(schema.GroupResource{}, object.GetName())
	}
	var written struct {
		Metadata struct{ ResourceVersion string }
		Spec     struct{ Replicas int32 }
	}
	if err := json.Unmarshal(body, &written); err != nil {
		return err
	}
	if written.Metadata.ResourceVersion != stored.GetResourceVersion() {
		return apierrors.NewConflict(schema.GroupResource{}, object.GetName(), errors.New("modified"))
	}
	switch object := object.(type) {
	case *v1beta1.TimeWindowScaler:
		err = w.patchStatus(object, body)
	case *appsv1.Deployment:
		w.patchScale(object.Name, written.Spec.Replicas, options)
	}
	if fate == answerLost {
		return errLost
	}
	return err
}

func (w modelWriter) patchStatus(object *v1beta1.TimeWindowScaler, patch []byte) error {
	at := scalerAt(object.Name)
	before, err := json.Marshal(w.objects[at].now())
	if err != nil {
		return err
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return err
	}
	changed := &v1beta1.TimeWindowScaler{}
	if err := json.Unmarshal(after, changed); err != nil {
		return err
	}
	w.store(at, changed)
	changed.DeepCopyInto(object)
	return nil
}

func (w modelWriter) patchScale(name string, count int32, options []client.SubResourcePatchOption) {
	change(w.apiModel, targetAt(name), func(d *appsv1.Deployment) {
		if *d.Spec.Replicas != count {
			w.scaled(name, count)
			d.Spec.Replicas = ptr.To(count)
			d.Generation++
		}
	})
	d := w.objects[targetAt(name)].now().(*appsv1.Deployment)
	answer := (&client.SubResourcePatchOptions{}).ApplyOptions(options).SubResourceBody.(*autoscalingv1.Scale)
	answer.UID, answer.ResourceVersion = d.UID, d.ResourceVersion
	answer.Spec.Replicas, answer.Status.Replicas = count, d.Status.Replicas
}
