package timewindowscaler

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// passesOn reports whether p passes the change of an object.
func passesOn[T client.Object](p predicate.Predicate, before T, change func(T)) bool {
	after := before.DeepCopyObject().(T)
	change(after)
	return p.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
}

func deleting(o *metav1.ObjectMeta) { o.DeletionTimestamp = ptr.To(metav1.NewTime(ist(inTheHours))) }

// B3: the target is watched, and only what can mean drift, arrival, loss or return triggers a pass.
func TestWhichDeploymentChangesMatter(t *testing.T) {
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "a", ResourceVersion: "1"},
		Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2)}, Status: appsv1.DeploymentStatus{Replicas: 2}}
	targetChanged := targetChanged(target.KindOf(v1beta1.TargetRef{Kind: "Deployment"}).(target.Cached))
	for name, tc := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		"nothing":          {func(*appsv1.Deployment) {}, false},
		"other fields":     {func(d *appsv1.Deployment) { d.ResourceVersion, d.Status.ReadyReplicas = "2", 1 }, false},
		"replicas":         {func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](3) }, true},
		"replicas removed": {func(d *appsv1.Deployment) { d.Spec.Replicas = nil }, true},
		"pods":             {func(d *appsv1.Deployment) { d.Status.Replicas = 3 }, true},
		"recreated":        {func(d *appsv1.Deployment) { d.UID = "b" }, true},
		"being deleted":    {func(d *appsv1.Deployment) { deleting(&d.ObjectMeta) }, true},
	} {
		if got := passesOn(targetChanged, web, tc.change); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !targetChanged.Create(event.CreateEvent{Object: web}) || !targetChanged.Delete(event.DeleteEvent{Object: web}) {
		t.Error("arrival or loss is not seen")
	}
}

// An edit is seen even if the generation stays: that of what only v1beta1 shows, by a request in v1alpha1 (A2).
func TestWhichScalerChangesMatter(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1beta1.TimeWindowScaler)
		want   bool
	}{
		"status":        {func(s *v1beta1.TimeWindowScaler) { s.Status.CurrentWindow, s.ResourceVersion = "W", "2" }, false},
		"a label":       {func(s *v1beta1.TimeWindowScaler) { s.Labels, s.ResourceVersion = map[string]string{"a": "b"}, "2" }, false},
		"a zone":        {func(s *v1beta1.TimeWindowScaler) { s.Spec.Windows[0].Timezone = "Asia/Tokyo" }, true},
		"a generation":  {func(s *v1beta1.TimeWindowScaler) { s.Generation++ }, true},
		"being deleted": {func(s *v1beta1.TimeWindowScaler) { s.Generation++; deleting(&s.ObjectMeta) }, true},
	} {
		if got := passesOn(scalerChanged, officeHours(), tc.change); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// B8: a scaler that leaves a target, or names it, wakes the others.
func TestWhichScalerChangesMatterToRivals(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1beta1.TimeWindowScaler)
		want   bool
	}{
		"status":         {func(s *v1beta1.TimeWindowScaler) { s.Status.CurrentWindow = "W" }, false},
		"windows":        {func(s *v1beta1.TimeWindowScaler) { s.Spec.Windows[0].Replicas = intstr.FromInt32(1) }, false},
		"another target": {func(s *v1beta1.TimeWindowScaler) { s.Spec.TargetRef.Name = "api" }, true},
		"being deleted":  {func(s *v1beta1.TimeWindowScaler) { deleting(&s.ObjectMeta) }, true},
	} {
		if got := passesOn(ownershipChanged, officeHours(), tc.change); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func scalesTo(kind, name string) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: kind, Name: name}}}
}

func TestWhichAutoscalerChangesMatter(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*autoscalingv2.HorizontalPodAutoscaler)
		want   bool
	}{
		"its bounds":     {func(a *autoscalingv2.HorizontalPodAutoscaler) { a.Spec.MaxReplicas = 3 }, false},
		"its count":      {func(a *autoscalingv2.HorizontalPodAutoscaler) { a.Status.CurrentReplicas = 3 }, false},
		"another target": {func(a *autoscalingv2.HorizontalPodAutoscaler) { a.Spec.ScaleTargetRef.Name = "api" }, true},
		"another kind":   {func(a *autoscalingv2.HorizontalPodAutoscaler) { a.Spec.ScaleTargetRef.Kind = "StatefulSet" }, true},
	} {
		if got := passesOn(contention.ScaleTargetChanged, scalesTo("Deployment", "web"), tc.change); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !contention.ScaleTargetChanged.Create(event.CreateEvent{Object: scalesTo("Deployment", "web")}) {
		t.Error("a new one is not seen")
	}
	if !contention.ScaleTargetChanged.Delete(event.DeleteEvent{Object: scalesTo("Deployment", "web")}) {
		t.Error("Degraded names one that is deleted")
	}
}

func TestIndexes(t *testing.T) {
	holidays := func(mode v1beta1.HolidayMode, source *v1beta1.HolidaySource) *v1beta1.TimeWindowScaler {
		s := officeHours()
		s.Spec.Holidays = &v1beta1.Holidays{Mode: mode, SourceRef: source}
		return s
	}
	list := &v1beta1.HolidaySource{Name: "company-holidays"}
	for name, tc := range map[string]struct {
		index client.IndexerFunc
		obj   client.Object
		want  []string
	}{
		"no holidays":       {indexHolidaySource, officeHours(), nil},
		"ignored holidays":  {indexHolidaySource, holidays(v1beta1.HolidayIgnore, list), nil},
		"no mode is ignore": {indexHolidaySource, holidays("", list), nil},
		"no source":         {indexHolidaySource, holidays(v1beta1.HolidayOpen, nil), nil},
		"closed":            {indexHolidaySource, holidays(v1beta1.HolidayClosed, list), []string{"company-holidays"}},
		"open":              {indexHolidaySource, holidays(v1beta1.HolidayOpen, list), []string{"company-holidays"}},
		"HPA":               {func(o client.Object) []string { return []string{contention.ScaleTarget(o)} }, scalesTo("Deployment", "web"), []string{"web"}},
	} {
		if diff := cmp.Diff(tc.want, tc.index(tc.obj)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}
