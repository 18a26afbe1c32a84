package workspace

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// progressEvery is how often a store is asked at most how far an upload is. Whatever wakes a pass, the
// write that tells of it too, does so more often.
const progressEvery = 20 * time.Second

// progress tells how far the mover is that puts the home into the archive. The mover cannot: it has no
// rights. A store that does not answer is no news of its own, for nothing is decided by this.
func (p *pass) progress(ctx context.Context) error {
	claim := p.status.Operation
	if claim.Type != lifecycle.Archiving || claim.PointOfNoReturn || p.ws.Status.Operation == nil || !p.atWork(claim.JobName) {
		return nil
	}
	if last, known := p.measured.Load(p.ws.UID); known && p.now.Sub(last.(time.Time)) < progressEvery {
		return nil
	}
	p.measured.Store(p.ws.UID, p.now)
	secret, err := found(ctx, p.APIReader, p.ws.Namespace, claim.JobName, &corev1.Secret{})
	if err != nil || secret == nil || !objects.Ours(p.ws, secret) {
		return err
	}
	ticket, err := objects.ReadTicket(secret)
	if err != nil {
		return nil // the attempt will fail of it
	}
	bytes, known, err := p.Stores.Uploaded(ctx, p.store(), ticket)
	if err != nil {
		log.FromContext(ctx).V(1).Info("It is not known how far the upload is", "reason", err.Error())
	}
	next := p.ws.DeepCopy()
	next.Status.Operation.Progress = fmt.Sprintf("%d MiB are in the store", bytes>>20)
	if !known || next.Status.Operation.Progress == p.ws.Status.Operation.Progress {
		return nil
	}
	return p.Client.Status().Update(ctx, next)
}

// atWork reports whether a Job of that name runs.
func (p *pass) atWork(name string) bool {
	return slices.ContainsFunc(p.seen.Jobs, func(job lifecycle.Job) bool {
		return job.Name == name && job.State == lifecycle.JobRunning
	})
}
