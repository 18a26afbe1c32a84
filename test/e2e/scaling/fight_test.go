package scaling

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kyklos.io/kyklos/apis/v1beta1"
)

const driftCorrections = "kyklos_manual_drift_corrections_total"

// repeats runs an action every 100 ms until the test ends or stop is called, which waits for the last one.
func (s *scenario) repeats(deed func(context.Context) error) (stop func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	var under sync.WaitGroup
	under.Go(func() {
		for tick := time.NewTicker(100 * time.Millisecond); ctx.Err() == nil; {
			if err := deed(ctx); err != nil && ctx.Err() == nil {
				s.Errorf("the rival: %v", err)
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	stop = func() { cancel(); under.Wait() }
	s.Cleanup(stop)
	return stop
}

// applies returns a server-side apply of a manifest with replicas, by force, as a GitOps tool does it.
func (s *scenario) applies(replicas int32) func(context.Context) error {
	manifest := fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q},"spec":{"replicas":%d}}`, targetName, replicas)
	return func(ctx context.Context) error {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: targetName}}
		return admin.Patch(ctx, d, client.RawPatch(types.ApplyPatchType, manifest), client.ForceOwnership, client.FieldOwner("argocd-controller"))
	}
}

// argues is the message of Degraded and the event about a fight in the window.
func argues(rival, window string) string {
	return rival + " keeps overwriting what Kyklos sets in Deployment webapp: three times in window " + window +
		". Only one of the two can decide: make the other leave the target alone, or set spec.pause"
}

// overdue sets the clock to the end of a back-off after the last write, and returns that time.
func (s *scenario) overdue(after time.Duration) time.Time {
	s.Helper()
	due := s.scaler().Status.LastScaleTime.Add(after + time.Second) // it is stored in whole seconds
	wall.set(due)
	return due
}

// A persistent rival is reported and corrected less and less often, down to every 5 minutes. Flips stay on time, and
// when the rival stops, the fight is over.
func TestFightWithAnotherFieldManager(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(10)
	s.officeHours()
	s.settles(10)

	stop := s.repeats(s.applies(15))
	const rival = "Field manager argocd-controller"
	s.equal("message", s.condition("Degraded", "True", v1beta1.ReasonFieldFight), argues(rival, "BusinessHours"))
	s.condition("Ready", "False", v1beta1.ReasonTargetMismatch)
	s.condition("Reconciling", "False", v1beta1.ReasonStable)
	s.awaitEvents("FieldFight", argues(rival, "BusinessHours"))
	s.measures(1, "kyklos_field_fight")
	since := meta.FindStatusCondition(s.scaler().Status.Conditions, v1beta1.ConditionDegraded).LastTransitionTime
	s.equal("effective", *s.scaler().Status.EffectiveReplicas, int32(10))

	scaled := since.Add(-time.Second) // the second correction may lie in the second before
	for i, pace := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute} {
		s.measures(float64(i+2), driftCorrections)
		s.losesAgain(scaled)
		scaled = s.overdue(pace)
	}
	s.measures(6, driftCorrections)
	s.losesAgain(scaled)
	s.waitsWithoutRequests()
	s.awaitEvents("FieldFight", argues(rival, "BusinessHours")) // once
	still := meta.FindStatusCondition(s.scaler().Status.Conditions, v1beta1.ConditionDegraded)
	s.equal("Degraded since", still.LastTransitionTime.Unix(), since.Unix())
	s.equal("requests for the rival's name", len(s.reads()), 1)

	s.clock("2025-01-27 17:00:00")
	s.Until("the flip", func() bool {
		return slices.Contains(s.notes("ScaledDown"), "Scaled down from 15 to 2 replicas (window: OffHours)")
	})
	s.awaitEvents("FieldFight", argues(rival, "BusinessHours"), argues(rival, "OffHours"))

	s.losesAgain(scaled.Add(time.Hour))
	stop()
	s.overdue(30 * time.Second)
	s.settles(2)
	s.measures(1, "kyklos_field_fight")
	s.overdue(10 * time.Minute)
	s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
	s.measuresNothing("kyklos_field_fight")
}

// What controls the target, as a Deployment controls its ReplicaSet, is named beside the rival: it may be what to scale.
func TestFightOverWhatAnotherControls(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(10)
	app := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "app"}}
	s.Must(admin.Create(s.Context(), app))
	d := s.deployment()
	before := client.MergeFrom(d.DeepCopy()) // without a version, as the Deployment's own controller writes it too
	s.Must(controllerutil.SetControllerReference(app, d, admin.Scheme()))
	s.Must(admin.Patch(s.Context(), d, before))
	s.officeHours()
	s.settles(10)
	s.repeats(s.applies(15))
	s.equal("message", s.condition("Degraded", "True", v1beta1.ReasonFieldFight),
		argues("Field manager argocd-controller (ConfigMap app controls this target)", "BusinessHours"))
}

// losesAgain waits until the rival has overwritten a write of Kyklos since the given time, the status shows it, and
// Kyklos has nothing left to write.
func (s *scenario) losesAgain(since time.Time) {
	s.Helper()
	s.Until("the rival's count, and a status about it", func() bool {
		d, tws := s.deployment(), s.scaler()
		last := tws.Status.LastScaleTime
		settled := d.Status.ObservedGeneration == d.Generation // otherwise the count may dip once more
		return *d.Spec.Replicas == 15 && d.Status.Replicas == 15 && settled && last != nil && !last.Time.Before(since.Truncate(time.Second)) &&
			ptr.Deref(tws.Status.TargetObservedReplicas, -1) == 15 &&
			meta.IsStatusConditionFalse(tws.Status.Conditions, v1beta1.ConditionReconciling)
	})
}

// waitsWithoutRequests reconciles the scaler several times within the five minutes of a back-off, and again if the
// manager had not yet seen all that came before.
func (s *scenario) waitsWithoutRequests() {
	s.Helper()
	var sent []string
	for range 3 {
		before := len(s.writesAndReads())
		for range 3 {
			seen := s.passes()
			wall.set(wall.Now().Add(10 * time.Second))
			s.Until("a pass", func() bool { return s.passes() > seen })
		}
		if sent = s.writesAndReads()[before:]; len(sent) == 0 {
			break
		}
	}
	if len(sent) > 0 {
		s.Errorf("while a correction waits: %q", sent)
	}
	s.measures(6, driftCorrections)
}

// writesAndReads returns the requests about the namespace without events.
func (s *scenario) writesAndReads() []string {
	return slices.DeleteFunc(sent.about("/namespaces/"+s.namespace+"/"), func(request string) bool {
		return request == "POST /apis/events.k8s.io/v1/namespaces/"+s.namespace+"/events"
	})
}

// reads returns the requests for the target's metadata. After a conflict the target is read too, but its scaler before
// it.
func (s *scenario) reads() []string {
	var found []string
	all := s.writesAndReads()
	for i, request := range all {
		target, scaler := "/deployments/"+targetName, "GET /apis/kyklos.io/v1beta1/namespaces/"+s.namespace+"/timewindowscalers/"+scalerName
		if request == "GET /apis/apps/v1/namespaces/"+s.namespace+target && (i == 0 || all[i-1] != scaler) {
			found = append(found, request)
		}
	}
	return found
}

// Three writes by hand are a fight too, with kubectl as the rival.
func TestFightWithAPerson(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(10)
	s.officeHours()
	s.settles(10)
	for i := range 2 {
		s.userScales(5)
		s.measures(float64(i+1), driftCorrections)
		s.settles(10)
	}
	s.overdue(0) // as if all were done in the same second
	s.userScales(5)
	s.equal("message", s.condition("Degraded", "True", v1beta1.ReasonFieldFight), argues("Field manager kubectl", "BusinessHours"))
	s.equal("target", *s.deployment().Spec.Replicas, int32(5))
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true })
	s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = false })
	s.settles(10)
}

// An HPA scales as kube-controller-manager. The message names the HPA.
func TestFightWithAnAutoscaler(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.Must(admin.Create(s.Context(), &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "webapp-cpu"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: targetName},
			MaxReplicas:    5,
		},
	}))
	s.target(10)
	s.officeHours()
	s.settles(10)
	s.repeats(func(ctx context.Context) error {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: targetName}}
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":5}}`))
		return admin.SubResource("scale").Patch(ctx, d, patch, client.WithSubResourceBody(&autoscalingv1.Scale{}),
			client.FieldOwner("kube-controller-manager"))
	})
	s.equal("message", s.condition("Degraded", "True", v1beta1.ReasonFieldFight), argues("HorizontalPodAutoscaler webapp-cpu", "BusinessHours"))
}
