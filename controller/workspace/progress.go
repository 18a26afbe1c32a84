package workspace

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/words"
	"kyklos.io/kyklos/internal/lifecycle"
)

// progressEvery is how often a store is asked at most how far a mover is. Whatever wakes a pass, the
// write that tells of it too, does so more often.
const progressEvery = 20 * time.Second

// question is when it was asked how far an attempt is.
type question struct {
	attempt string
	at      time.Time
}

// attempt names one attempt of an operation.
func attempt(operationID string, number int32) string {
	return fmt.Sprintf("%s/%d", operationID, number)
}

// progress tells how far the mover is that is at work. A store that does not answer is no news of its own,
// for nothing is decided by this. A mover that is done within progressEvery costs no request.
func (p *pass) progress(ctx context.Context) error {
	claim := p.status.Operation
	if claim.PointOfNoReturn || p.ws.Status.Operation == nil || !p.atWork(claim.JobName) {
		return nil
	}
	p.follows = true
	now := question{attempt(claim.ID, claim.Attempt), p.now}
	before, known := p.measured.LoadOrStore(p.ws.UID, now)
	last, _ := before.(question)
	if known && last.attempt == now.attempt && now.at.Sub(last.at).Abs() < progressEvery {
		return nil
	}
	p.measured.Store(p.ws.UID, now)
	if !known || last.attempt != now.attempt {
		return nil // it has only begun
	}
	text, err := p.howFar(ctx, now.attempt)
	if err != nil {
		log.FromContext(ctx).V(1).Info("It is not known how far the mover is", "reason", err.Error())
	}
	if text == "" || text == p.ws.Status.Operation.Progress {
		return nil
	}
	next := p.ws.DeepCopy()
	next.Status.Operation.Progress = text
	return p.Client.Status().Update(ctx, next)
}

// howFar asks for the mover's note; where there is none, for what the store has of the upload. "" is not known.
func (p *pass) howFar(ctx context.Context, attempt string) (string, error) {
	claim, key := p.status.Operation, p.status.ArchiveKey
	if claim.Type == lifecycle.Archiving {
		key = lifecycle.ArchiveKey(p.asked.UID, claim.ID)
	}
	note, known, failed := p.Stores.Progress(ctx, p.store(), key, attempt)
	if known || claim.Type != lifecycle.Archiving {
		return words.Progress(note), failed
	}
	secret, err := found(ctx, p.APIReader, p.ws.Namespace, claim.JobName, &corev1.Secret{})
	if err != nil || secret == nil || !objects.Ours(p.ws, secret) {
		return "", err
	}
	ticket, err := objects.ReadTicket(secret)
	if err != nil {
		return "", err // the attempt will fail of it
	}
	bytes, known, err := p.Stores.Uploaded(ctx, p.store(), ticket)
	if err != nil || !known || bytes == 0 {
		return "", err
	}
	return words.Uploaded(bytes), nil
}

// atWork reports whether a Job of that name runs.
func (p *pass) atWork(name string) bool {
	return slices.ContainsFunc(p.seen.Jobs, func(job lifecycle.Job) bool {
		return job.Name == name && job.State == lifecycle.JobRunning
	})
}
