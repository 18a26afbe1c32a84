package workspace

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/record"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// errNoImage: the manager knows of no image for movers.
var errNoImage = errors.New("the manager does not know its own image: start it with --mover-image")

// store is the Secret that names the Workspace's store.
func (p *pass) store() types.NamespacedName {
	key := types.NamespacedName{Namespace: p.ws.Namespace}
	if p.ws.Spec.Archive != nil {
		key.Name = p.ws.Spec.Archive.StoreRef.Name
	}
	return key
}

// createJob makes one attempt's mover: its ticket first, for without it the mover could not start.
func (p *pass) createJob(ctx context.Context, a lifecycle.Action) error {
	if p.MoverImage == "" {
		return refusedForGood(errNoImage)
	}
	move := objects.Move{Operation: p.status.Operation.Type, Image: p.MoverImage, Limit: record.Limit(p.ws, p.status.Operation.Type)}
	var most int64
	if move.Operation == lifecycle.Archiving {
		var err error
		if most, err = objects.VolumeBytes(p.ws, p.sight.claim); err != nil {
			return refusedForGood(err)
		}
	} else {
		move.SHA256 = p.status.Archive.SHA256
	}
	order := archive.Order{MaxBytes: most, Attempt: attempt(a.OperationID, a.Attempt), Now: p.now, Valid: move.Limit}
	create := func() error { return p.createTicket(ctx, a, order) }
	if err := create(); apierrors.IsAlreadyExists(err) {
		return judged(p.endStrayTicket(ctx, a.Name, create))
	} else if err != nil {
		return err
	}
	job := objects.Job(p.ws, a, move)
	if err := p.Client.Create(ctx, job); err != nil && !apierrors.IsAlreadyExists(err) {
		if _, no := refusal(judged(err)); no {
			_ = p.endTicket(ctx, a.Name) // best effort: the next attempt has another name
		}
		return judged(err)
	}
	return judged(p.keepTicket(ctx, a.Name, create))
}

// createTicket makes the Secret with a new ticket. AlreadyExists comes back as it is.
func (p *pass) createTicket(ctx context.Context, a lifecycle.Action, order archive.Order) error {
	ticket, err := p.Stores.Issue(ctx, p.store(), a.Key, order)
	if err != nil {
		return refusedByStore(err)
	}
	secret, err := objects.Ticket(p.ws, a, ticket)
	if err != nil {
		return refusedForGood(err)
	}
	if err = p.Client.Create(ctx, secret); err != nil {
		p.revoke(ctx, secret)
	}
	if apierrors.IsAlreadyExists(err) {
		return err
	}
	return judged(err)
}

// keepTicket makes another ticket for a Job that is there, if somebody has taken its own away: without one
// its Pod would wait until the attempt has timed out.
func (p *pass) keepTicket(ctx context.Context, name string, create func() error) error {
	secret, err := found(ctx, p.APIReader, p.ws.Namespace, name, &corev1.Secret{})
	if err != nil || secret != nil {
		return err
	}
	return client.IgnoreAlreadyExists(create())
}

// endStrayTicket takes away a ticket whose Job was never made: whoever made it has crashed in between.
// The next look makes another, since nobody knows how long this one is still good. A manager that only
// seemed to have crashed may make the Job meanwhile; then it gets the other one at once.
func (p *pass) endStrayTicket(ctx context.Context, name string, create func() error) error {
	job, err := found(ctx, p.APIReader, p.ws.Namespace, name, &batchv1.Job{})
	if err != nil || job != nil {
		return err // somebody else was faster
	}
	if err := p.endTicket(ctx, name); err != nil {
		return err
	}
	if job, err = found(ctx, p.APIReader, p.ws.Namespace, name, &batchv1.Job{}); err != nil || job == nil {
		return err
	}
	return p.keepTicket(ctx, name, create)
}

// endTicket ends the upload of a ticket and deletes its Secret. The Job is deleted after it: as long as
// the Job is there, this is done again.
func (p *pass) endTicket(ctx context.Context, name string) error {
	secret, err := found(ctx, p.APIReader, p.ws.Namespace, name, &corev1.Secret{})
	if err != nil || secret == nil || !objects.Ours(p.ws, secret) {
		return err
	}
	p.revoke(ctx, secret)
	return client.IgnoreNotFound(p.Client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID}))
}

// revoke ends the upload of a ticket. A store that does not answer is no reason to wait: the upload can
// change nothing that is stored, and the collection ends it after a day.
func (p *pass) revoke(ctx context.Context, secret *corev1.Secret) {
	ticket, err := objects.ReadTicket(secret)
	if err == nil {
		err = p.Stores.Revoke(ctx, p.store(), ticket)
	}
	if err != nil {
		log.FromContext(ctx).V(1).Info("The upload of a ticket was not ended", "secret", secret.Name, "reason", err.Error())
	}
}
