package workspace

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/turns"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// createJob creates the mover of one attempt: first its ticket, which the mover needs to start. If the API server refuses the
// mover's Pod, there is no Job: it would wait for its Pod.
func (r *Reconciler) createJob(ctx context.Context, p plan) error {
	ws, a := p.ws, p.decision.Act
	move := r.moveOf(p)
	order := archive.Order{Attempt: attemptID(a.OperationID, a.Attempt), Now: p.now, Valid: move.Limit}
	if move.Operation == lifecycle.Archiving {
		var err error
		if order.MaxBytes, err = objects.VolumeBytes(ws, p.pvc); err != nil {
			return rejectedForGood(err)
		}
	}
	if err := r.tryMover(ctx, p); err != nil {
		return err
	}
	createTicket := func() error { return r.createTicket(ctx, ws, a, order) }
	if err := createTicket(); apierrors.IsAlreadyExists(err) {
		return classify(r.replaceStrayTicket(ctx, ws, a.Name, createTicket))
	} else if err != nil {
		return err
	}
	job := objects.Job(ws, a, move)
	if err := r.Client.Create(ctx, job); err != nil && !apierrors.IsAlreadyExists(err) {
		if _, ok := asRejection(classify(err)); ok {
			_ = r.endTicket(ctx, ws, a.Name) // best effort: the next attempt uses another name
		}
		return classify(err)
	}
	return classify(r.ensureTicket(ctx, ws, a.Name, createTicket))
}

// createTicket creates the Secret with a new ticket. AlreadyExists is returned unchanged.
func (r *Reconciler) createTicket(ctx context.Context, ws *v1alpha1.Workspace, a lifecycle.Action, order archive.Order) error {
	ticket, err := r.Store.Issue(ctx, storeSecret(ws), a.Key, order)
	if err != nil {
		return rejectedByStore(err)
	}
	secret, err := objects.Ticket(ws, a, ticket)
	if err != nil {
		return rejectedForGood(err)
	}
	if ticket.Upload != nil {
		if err := objects.FitsMemory(r.MoverResources, ticket.Upload.PartSize); err != nil {
			_ = r.revoke(ctx, ws, secret) // this pass has its turn
			return rejectedForGood(err)
		}
	}
	if err = r.Client.Create(ctx, secret); err != nil {
		_ = r.revoke(ctx, ws, secret) // this pass has its turn
	}
	if apierrors.IsAlreadyExists(err) {
		return err
	}
	return classify(err)
}

// ensureTicket creates another ticket for an existing Job whose ticket was deleted: without one its Pod would wait until the
// attempt times out.
func (r *Reconciler) ensureTicket(ctx context.Context, ws *v1alpha1.Workspace, name string, create func() error) error {
	secret, err := get(ctx, r.APIReader, ws.Namespace, name, &corev1.Secret{})
	if err != nil || secret != nil {
		return err
	}
	return client.IgnoreAlreadyExists(create())
}

// replaceStrayTicket deletes a ticket without a Job, which is left after a crash. The next pass creates another ticket, since
// it is unknown how long this one is valid. If another manager creates the Job meanwhile, that Job gets a new ticket at once.
func (r *Reconciler) replaceStrayTicket(ctx context.Context, ws *v1alpha1.Workspace, name string, create func() error) error {
	job, err := get(ctx, r.APIReader, ws.Namespace, name, &batchv1.Job{})
	if err != nil || job != nil {
		return err
	}
	if err := r.endTicket(ctx, ws, name); err != nil {
		return err
	}
	if job, err = get(ctx, r.APIReader, ws.Namespace, name, &batchv1.Job{}); err != nil || job == nil {
		return err
	}
	return r.ensureTicket(ctx, ws, name, create)
}

// endTicket aborts the upload of a ticket and deletes its Secret. The Job is deleted afterwards: as long as it exists, this
// is repeated.
func (r *Reconciler) endTicket(ctx context.Context, ws *v1alpha1.Workspace, name string) error {
	secret, err := get(ctx, r.APIReader, ws.Namespace, name, &corev1.Secret{})
	if err != nil || secret == nil || !objects.Ours(ws, secret) {
		return err
	}
	if err := r.revoke(ctx, ws, secret); err != nil {
		return err
	}
	return client.IgnoreNotFound(r.Client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID}))
}

// revoke aborts the upload of a ticket. If the store does not answer, the upload cannot change stored data, and the
// collection removes it after a day. The error is turns.ErrBusy.
func (r *Reconciler) revoke(ctx context.Context, ws *v1alpha1.Workspace, secret *corev1.Secret) error {
	ticket, err := objects.ReadTicket(secret)
	if err == nil {
		err = r.Store.Revoke(ctx, storeSecret(ws), ticket)
	}
	if errors.Is(err, turns.ErrBusy) {
		return err
	}
	if err != nil {
		log.FromContext(ctx).V(1).Info("Cannot abort the upload of a ticket", "secret", secret.Name, "reason", err.Error())
	}
	return nil
}
