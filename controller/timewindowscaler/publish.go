package timewindowscaler

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/statuswriter"
)

// publish writes the status and publishes the events, if it is the scaler's turn. Targets go first: a pass that has written its
// target never reports itself, and others wait until no target is due. The status that this pass decided stays in force,
// and the pass that has the turn decides anew, from what it observes. A grace period that only the status knows of is not
// put at risk: its end decides when a target is due.
func (r *Reconciler) publish(ctx context.Context, stored *v1beta1.TimeWindowScaler, status v1beta1.TimeWindowScalerStatus, state *scalerState, pass *passResult) error {
	key := client.ObjectKeyFromObject(stored)
	same := equality.Semantic.DeepEqual(stored.Status, status)
	if same {
		state.unstored = unstoredStatus{}
	}
	if same && len(state.unpublished.events) == 0 {
		r.attempts.Over(attempts.ID{Scaler: key, Work: attempts.WriteStatus})
		return nil
	}
	if !pass.plan.grace.unforeseen && !r.attempts.Turn(key, pass.outcome.scaled) {
		if !same {
			state.unstored.keep(stored, &status)
		}
		return nil
	}
	defer r.attempts.Reported(key)
	defer state.unpublished.send(r.Events) // whether or not the status is written: the target was
	if same {
		return nil
	}
	return r.writeStatus(ctx, stored, status, state)
}

// writeStatus writes the status, or remembers it if that fails.
func (r *Reconciler) writeStatus(ctx context.Context, stored *v1beta1.TimeWindowScaler, status v1beta1.TimeWindowScalerStatus, state *scalerState) error {
	key := client.ObjectKeyFromObject(stored)
	work := attempts.ID{Scaler: key, Work: attempts.WriteStatus}
	written, err := attempts.Do(ctx, r.attempts, work, statusLane(key), attempts.Cause{Generation: stored.Generation}, func(ctx context.Context) (*v1beta1.TimeWindowScaler, error) {
		changed := stored.DeepCopy()
		_, err := statuswriter.UpdateStatus(ctx, r.Client.Status(), changed, *status.DeepCopy()) // the answer is decoded into it
		return changed, err
	})
	if err != nil {
		state.unstored.keep(stored, &status)
		return statusError(stored, err)
	}
	state.unstored = unstoredStatus{}
	r.wrote(ctx, written, state)
	return nil
}

// unpublished are the events of one scaler that wait for its turn.
type unpublished struct {
	// about is the scaler as the events name it.
	about  *v1beta1.TimeWindowScaler
	events []events.Event
}

// add keeps the events of a pass that are no repetitions.
func (u *unpublished) add(recorder *events.Recorder, pass *passResult, evs []events.Event) {
	if evs = recorder.Admit(pass.tws, pass.now, evs...); len(evs) == 0 {
		return
	}
	if u.about != nil && u.about.UID != pass.tws.UID {
		u.send(recorder)
	}
	u.about = &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{
		Namespace: pass.tws.Namespace, Name: pass.tws.Name, UID: pass.tws.UID, ResourceVersion: pass.tws.ResourceVersion,
	}}
	u.events = append(u.events, evs...)
}

// send publishes the events, each once.
func (u *unpublished) send(recorder *events.Recorder) {
	if len(u.events) > 0 {
		recorder.Send(u.about, u.events...)
	}
	*u = unpublished{}
}
