package soak

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// kind is a kind of target and its share of 100 scalers.
type kind struct {
	fixtures.TargetKind
	// counts are those of its plans.
	counts []int32
	share  int
}

// Most are Widgets, because they need no pods.
var kinds = []*kind{
	{fixtures.Widgets, []int32{0, 1, 2, 3, 4, 5}, 76},
	{fixtures.Deployments, []int32{0, 1, 2, 3}, 10},
	{fixtures.StatefulSets, []int32{0, 1, 2, 3}, 6},
	{fixtures.DaemonSets, []int32{0, 1}, 6},
	{fixtures.Homes, []int32{0, 1}, 2},
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
func (o *object) key() string { return o.kind.Resource + "/" + o.namespace + "/" + o.name }

func (o *object) scaler() *v1beta1.TimeWindowScaler {
	tws := &v1beta1.TimeWindowScaler{ObjectMeta: o.meta(), Spec: v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{APIVersion: o.kind.APIVersion, Kind: o.kind.Name, Name: o.name},
		Timezone:  o.zone, DefaultReplicas: intstr.FromInt32(defaultCount), Windows: o.plan.windows(o.zone),
		GracePeriodSeconds: int32(o.grace.Seconds()),
	}}
	if o.holidays {
		tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: holidays}}
	}
	return tws
}

// target returns the target as it is created.
func (o *object) target(replicas int32) client.Object { return o.kind.New(o.meta(), replicas) }

// reference is the target's identity alone.
func (o *object) reference() *unstructured.Unstructured { return o.kind.Reference(o.meta()) }

// listing is what all targets of a kind have: the count of each, by key.
func (k *kind) listing(ctx context.Context, reader client.Reader, into map[string]int32) error {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(k.APIVersion)
	list.SetKind(k.Name + "List")
	if err := reader.List(ctx, list, client.MatchingLabels{"soak": "keep"}); err != nil {
		return err
	}
	for i := range list.Items {
		u := &list.Items[i]
		into[fmt.Sprintf("%s/%s/%s", k.Resource, u.GetNamespace(), u.GetName())] = k.Count(u.Object)
	}
	return nil
}

// merge is a merge patch.
func merge(format string, args ...any) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, format, args...))
}
