package workspace

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// pollEvery is the minimum time between two polls of a mover's progress, however often passes run.
const pollEvery = 20 * time.Second

// poll is when the progress of an attempt was polled.
type poll struct {
	attempt string
	at      time.Time
}

// attemptID identifies one attempt of an operation.
func attemptID(operationID string, attempt int32) string {
	return fmt.Sprintf("%s/%d", operationID, attempt)
}

// pollMover writes the progress of a running mover into the status. It reports whether there is one. Errors of the store are
// only logged: nothing depends on the progress. A mover that ends within pollEvery costs no request.
func (r *Reconciler) pollMover(ctx context.Context, p plan) (bool, error) {
	operation := p.status.Operation
	running := slices.ContainsFunc(p.view.Jobs, func(job lifecycle.Job) bool {
		return job.Name == operation.JobName && job.State == lifecycle.JobRunning
	})
	if operation.PointOfNoReturn || p.ws.Status.Operation == nil || !running {
		return false, nil
	}
	current := poll{attemptID(operation.ID, operation.Attempt), p.now}
	before, known := r.polls.LoadOrStore(p.ws.UID, current)
	last, _ := before.(poll)
	if known && last.attempt == current.attempt && current.at.Sub(last.at).Abs() < pollEvery {
		return true, nil
	}
	r.polls.Store(p.ws.UID, current)
	if !known || last.attempt != current.attempt {
		return true, nil // it has just begun
	}
	text, percent, err := r.moverProgress(ctx, p, current.attempt)
	if err != nil {
		log.FromContext(ctx).V(1).Info("Cannot poll the progress of the mover", "reason", err.Error())
	}
	if text == "" || text == p.ws.Status.Operation.Progress {
		return true, nil
	}
	next := p.ws.DeepCopy()
	next.Status.Operation.Progress, next.Status.Operation.ProgressPercent = text, percent
	return true, r.Client.Status().Update(ctx, next)
}

// moverProgress reads the mover's note or, if there is none, how much of the upload the store has. "" means unknown, and so do 0
// percent.
func (r *Reconciler) moverProgress(ctx context.Context, p plan, attempt string) (text string, percent int32, _ error) {
	operation, key := p.status.Operation, p.status.ArchiveKey
	if operation.Type == lifecycle.Archiving {
		key = lifecycle.ArchiveKey(p.spec.UID, operation.ID)
	}
	note, known, failed := r.Store.Progress(ctx, storeSecret(p.ws), key, attempt)
	if known || operation.Type != lifecycle.Archiving {
		return message.Progress(note), message.Percent(note), failed
	}
	secret, err := get(ctx, r.APIReader, p.ws.Namespace, operation.JobName, &corev1.Secret{})
	if err != nil || secret == nil || !objects.Ours(p.ws, secret) {
		return "", 0, err
	}
	ticket, err := objects.ReadTicket(secret)
	if err != nil {
		return "", 0, err // the attempt will fail because of it
	}
	bytes, known, err := r.Store.Uploaded(ctx, storeSecret(p.ws), ticket)
	if err != nil || !known || bytes == 0 {
		return "", 0, err
	}
	return message.Uploaded(bytes), 0, nil
}
