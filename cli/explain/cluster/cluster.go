// Package cluster reads from a cluster what explain needs, with the user's permissions.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/scheme"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/timecalc"
)

// Reader reads what affects a scaler and its target.
type Reader struct {
	client.Reader
	dynamic dynamic.Interface
	kinds   *targetkind.Resolver
}

// New returns a reader of a cluster.
func New(config *rest.Config) (*Reader, error) {
	requests, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	var r Reader
	if r.Reader, err = client.New(config, client.Options{Scheme: scheme.New(), HTTPClient: requests}); err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	if r.dynamic, err = dynamic.NewForConfigAndClient(config, requests); err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	r.kinds, err = targetkind.NewResolverFor(config, requests, clock.RealClock{})
	return &r, err
}

// Holidays returns the holidays of a scaler. given, if not nil, replaces its ConfigMap.
func (r *Reader) Holidays(ctx context.Context, tws *v1beta1.TimeWindowScaler, given []string) (explain.Holidays, error) {
	if schedule.HolidaySource(&tws.Spec) == "" {
		return explain.Holidays{}, nil
	}
	known := source.Holidays{Keys: given}
	if given == nil {
		var err error
		if known, err = source.ClusterHolidays(ctx, r, tws); err != nil {
			return explain.Holidays{}, err
		}
	}
	dates, invalid := timecalc.ParseHolidayDates(known.Keys)
	return explain.Holidays{Dates: dates, Missing: known.Missing, Unread: known.Unread, Invalid: invalid}, nil
}

// State reads what affects a scaler and its target. What the user may not read is listed in it.
func (r *Reader) State(ctx context.Context, tws *v1beta1.TimeWindowScaler) (*explain.State, error) {
	state := &explain.State{Status: tws.Status, Generation: tws.Generation, Deleting: schedule.Deleting(tws)}
	for _, part := range []struct {
		what string
		read func(context.Context, *v1beta1.TimeWindowScaler, *explain.State) error
	}{{"the other TimeWindowScalers", r.owner}, {"the HorizontalPodAutoscalers", r.autoscaler}, {"the target", r.target}} {
		switch err := part.read(ctx, tws, state); {
		case apierrors.IsForbidden(err):
			state.Unknown = append(state.Unknown, fmt.Sprintf("you may not read %s: %v", part.what, err))
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", part.what, err)
		}
	}
	return state, nil
}

// owner finds the scaler that owns the target instead (B8).
func (r *Reader) owner(ctx context.Context, tws *v1beta1.TimeWindowScaler, state *explain.State) error {
	var rivals v1beta1.TimeWindowScalerList
	if err := r.List(ctx, &rivals, client.InNamespace(tws.Namespace)); err != nil {
		return err
	}
	if owner := targetkind.Owner(rivals.Items, tws.Spec.TargetRef); owner != nil && targetkind.Precedes(owner, tws) {
		state.Owner = owner.Name
	}
	return nil
}

func (r *Reader) autoscaler(ctx context.Context, tws *v1beta1.TimeWindowScaler, state *explain.State) error {
	var autoscalers autoscalingv2.HorizontalPodAutoscalerList
	if err := r.List(ctx, &autoscalers, client.InNamespace(tws.Namespace)); err != nil {
		return err
	}
	for i := range autoscalers.Items {
		if targetkind.ScaledBy(&autoscalers.Items[i], tws.Spec.TargetRef) {
			state.Autoscaler = autoscalers.Items[i].Name
		}
	}
	return nil
}

// target reads the target by discovery, as the manager does.
func (r *Reader) target(ctx context.Context, tws *v1beta1.TimeWindowScaler, state *explain.State) error {
	reference := tws.Spec.TargetRef
	kind, err := r.kinds.Resolve(ctx, reference)
	var unknown *targetkind.UnknownError
	var unscalable *targetkind.NotScalableError
	if errors.As(err, &unknown) || errors.As(err, &unscalable) {
		state.Missing, state.NoKind = err.Error(), true
		return nil
	}
	if err != nil {
		return err
	}
	objects := r.dynamic.Resource(kind.GroupVersionResource()).Namespace(tws.Namespace)
	object, err := objects.Get(ctx, reference.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		state.Missing = fmt.Sprintf("%s %s does not exist", reference.Kind, reference.Name)
		return nil
	case err != nil:
		return err
	case object.GetDeletionTimestamp() != nil:
		state.Missing = fmt.Sprintf("%s %s is being deleted", reference.Kind, reference.Name)
		return nil
	}
	if state.Target, err = targetOf(ctx, kind, object, objects); err == nil && kind == targetkind.Workspace {
		state.Target.Used, err = lastUse(object, tws)
	}
	return err
}

// lastUse is when a Workspace was last used.
func lastUse(object *unstructured.Unstructured, tws *v1beta1.TimeWindowScaler) (time.Time, error) {
	ws := &v1alpha1.Workspace{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, ws); err != nil {
		return time.Time{}, fmt.Errorf("read Workspace %s: %w", object.GetName(), err)
	}
	return schedule.OrStarted(schedule.LastUse(&ws.Status), tws.Status.Applied, ws.UID), nil
}

// targetOf reads the count of an object, or of its scale subresource.
func targetOf(ctx context.Context, kind targetkind.Kind, object *unstructured.Unstructured, objects dynamic.ResourceInterface) (*explain.Target, error) {
	target := &explain.Target{UID: object.GetUID()}
	written := []string{"f:spec", "f:replicas"}
	switch kind {
	case targetkind.Workspace:
		written = targetkind.DesiredStateField
		target.Desired, _, _ = unstructured.NestedString(object.Object, "spec", "desiredState")
	case targetkind.DaemonSet:
		written = []string{"f:spec", "f:template", "f:spec", "f:nodeSelector", "f:" + targetkind.SuspendKey}
		_, target.Suspended, _ = unstructured.NestedString(object.Object, "spec", "template", "spec", "nodeSelector", targetkind.SuspendKey)
		target.Has = number(object, "status", "currentNumberScheduled") + number(object, "status", "numberMisscheduled")
	default:
		scale, err := objects.Get(ctx, object.GetName(), metav1.GetOptions{}, "scale")
		if apierrors.IsInternalError(err) { // the API server's answer if the spec of a custom resource has no count
			target.Unset = true
			break
		}
		if err != nil {
			return nil, err
		}
		target.Asks, target.Has = number(scale, "spec", "replicas"), number(scale, "status", "replicas")
	}
	for _, entry := range object.GetManagedFields() {
		if !targetkind.Owns(&entry, written) {
			continue
		}
		target.Owners = append(target.Owners, entry.Manager)
		if entry.Time != nil && entry.Time.After(target.Written) {
			target.Written = entry.Time.Time
		}
	}
	return target, nil
}

func number(object *unstructured.Unstructured, path ...string) int32 {
	value, _, _ := unstructured.NestedInt64(object.Object, path...)
	return int32(value)
}
