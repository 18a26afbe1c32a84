package timewindowscaler

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

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

// forgetIfGone models that a manager remembers nothing of a scaler that is gone.
func (m *apiModel) forgetIfGone(scaler client.Object) {
	if scaler == nil {
		m.own = map[string]string{}
	}
}

// modelReader reads past the cache.
type modelReader struct {
	client.Reader
	*apiModel
}

func (r modelReader) Get(_ context.Context, key types.NamespacedName, object client.Object, _ ...client.GetOption) error {
	found := r.locate(object, key.Name).now()
	if _, ok := object.(*v1beta1.TimeWindowScaler); ok {
		r.absent[scalerAt(key.Name)] = found == nil
		r.forgetIfGone(found)
	}
	return copyInto(found, object, key.Name)
}

// List reads the metadata of the scaler.
func (r modelReader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if tws := r.objects[scalerAt(lateScaler)].now(); tws != nil {
		metadata := tws.(*v1beta1.TimeWindowScaler).ObjectMeta
		list.(*metav1.PartialObjectMetadataList).Items = []metav1.PartialObjectMetadata{{ObjectMeta: metadata}}
	}
	return nil
}

// modelClient reads from the cache and writes.
type modelClient struct {
	client.Client
	*apiModel
}

func (c modelClient) Get(_ context.Context, key types.NamespacedName, object client.Object, _ ...client.GetOption) error {
	c.gets++
	for at, h := range c.objects {
		if _, ok := object.(*appsv1.Deployment); ok && at != targetAt(key.Name) && strings.HasPrefix(at, targetAt("")) && h.now() != nil {
			delete(c.own, string(h.now().GetUID()))
		}
	}
	found := c.locate(object, key.Name).cached()
	if _, ok := object.(*v1beta1.TimeWindowScaler); ok {
		c.forgetIfGone(found)
	}
	return copyInto(found, object, key.Name)
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
		w.meanwhile = nil
		meanwhile()
	}
	fate := w.answer
	w.answer = arrives
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
		if w.own[string(stored.GetUID())] == stored.GetResourceVersion() {
			w.refused(object.GetName())
		}
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
	w.own[string(stored.GetUID())] = strconv.FormatInt(w.version, 10)
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
