package soak

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/test/harness"
)

// kind is a kind of target.
type kind struct {
	name, apiVersion, resource string
	// counts are those of its plans. There are only two where a target is on or off.
	counts []int32
	// share of 100 scalers.
	share int
	// replicas: the count is spec.replicas.
	replicas bool
}

const widgetGroup = "soak.example.com"

var kinds = []*kind{
	{"Widget", widgetGroup + "/v1", "widgets", []int32{0, 1, 2, 3, 4, 5}, 50, true},
	{"Deployment", "apps/v1", "deployments", []int32{0, 1, 2, 3}, 22, true},
	{"StatefulSet", "apps/v1", "statefulsets", []int32{0, 1, 2, 3}, 12, true},
	{"DaemonSet", "apps/v1", "daemonsets", []int32{0, 1}, 14, false},
	{"Workspace", v1alpha1.GroupVersion.String(), "workspaces", []int32{0, 1}, 2, false},
}

// foreign is what others set. No plan has it.
const foreign = 6

// object is a scaler and its target, of the same name.
type object struct {
	*model
	kind            *kind
	namespace, zone string
	grace           time.Duration
	// holidays: the plan counts only while the namespace's ConfigMap lists no holiday.
	holidays bool
	// plan is the last one without the effect of a grace period.
	plan plan
	// busy: an action on it is under way; guarded by the soak.
	busy bool
}

func (o *object) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: o.namespace, Name: o.name, Labels: map[string]string{"soak": "keep"}, Annotations: map[string]string{"soak": "keep"}}
}

// key is how the proxies name its target.
func (o *object) key() string { return o.kind.resource + "/" + o.namespace + "/" + o.name }

func (o *object) scaler() *v1beta1.TimeWindowScaler {
	tws := &v1beta1.TimeWindowScaler{ObjectMeta: o.meta(), Spec: v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{APIVersion: o.kind.apiVersion, Kind: o.kind.name, Name: o.name},
		Timezone:  o.zone, DefaultReplicas: intstr.FromInt32(defaultCount), Windows: o.plan.windows(o.zone),
		GracePeriodSeconds: int32(o.grace.Seconds()),
	}}
	if o.holidays {
		tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: holidays}}
	}
	return tws
}

// target returns the target as it is created.
func (o *object) target(replicas int32) client.Object {
	switch o.kind.name {
	case "Deployment":
		d := harness.NewDeployment(o.namespace, o.name, replicas)
		d.ObjectMeta = o.meta()
		return d
	case "StatefulSet":
		d := harness.NewDeployment(o.namespace, o.name, replicas)
		return &appsv1.StatefulSet{ObjectMeta: o.meta(), Spec: appsv1.StatefulSetSpec{
			Replicas: d.Spec.Replicas, Selector: d.Spec.Selector, Template: d.Spec.Template, PodManagementPolicy: appsv1.ParallelPodManagement,
		}}
	case "DaemonSet":
		d := harness.NewDeployment(o.namespace, o.name, 0)
		return &appsv1.DaemonSet{ObjectMeta: o.meta(), Spec: appsv1.DaemonSetSpec{Selector: d.Spec.Selector, Template: d.Spec.Template}}
	default:
		u := o.reference() // left to the API server's defaults
		u.SetLabels(o.meta().Labels)
		u.SetAnnotations(o.meta().Annotations)
		u.Object["spec"] = map[string]any{"replicas": int64(replicas), "color": "blue"}
		if o.kind.name == "Workspace" {
			u.Object["spec"] = map[string]any{"desiredState": string(v1alpha1.DesiredRunning), "image": "ide"}
		}
		return u
	}
}

// reference is the target's identity alone.
func (o *object) reference() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(o.kind.apiVersion)
	u.SetKind(o.kind.name)
	u.SetNamespace(o.namespace)
	u.SetName(o.name)
	return u
}

// listing is what all targets of a kind have: the count of each, by key.
func (k *kind) listing(ctx context.Context, reader client.Reader, into map[string]int32) error {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(k.apiVersion)
	list.SetKind(k.name + "List")
	if err := reader.List(ctx, list, client.MatchingLabels{"soak": "keep"}); err != nil {
		return err
	}
	for i := range list.Items {
		u := &list.Items[i]
		into[fmt.Sprintf("%s/%s/%s", k.resource, u.GetNamespace(), u.GetName())] = k.count(u.Object)
	}
	return nil
}

// count reads a target, or a patch of one. It returns -1 if a patch does not set it.
func (k *kind) count(object map[string]any) int32 {
	switch k.name {
	case "DaemonSet":
		selector, _, _ := unstructured.NestedMap(object, "spec", "template", "spec", "nodeSelector")
		if value, there := selector[targetkind.SuspendKey]; there && value == "true" {
			return 0
		}
		return 1
	case "Workspace":
		state, found, _ := unstructured.NestedString(object, "spec", "desiredState")
		switch {
		case !found:
			return -1
		case state == string(v1alpha1.DesiredRunning):
			return 1
		default:
			return 0
		}
	default:
		switch replicas, _, _ := unstructured.NestedFieldNoCopy(object, "spec", "replicas"); n := replicas.(type) {
		case int64:
			return int32(n)
		case float64:
			return int32(n)
		default:
			return -1
		}
	}
}

// merge is a merge patch.
func merge(format string, args ...any) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, format, args...))
}
