package workspace

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/controller/workspace/objects"
)

const (
	// serviceTimeout is how long the requests about a Service may take. Homes must not wait for a webhook that hangs.
	serviceTimeout = 3 * time.Second
	// serviceRetry is when the requests about a Service are sent again after a failure, however often passes run.
	serviceRetry = 30 * time.Second
)

// failedService is a failure to bring a Service to what the spec asks for, and when it was.
type failedService struct {
	generation int64
	at         time.Time
	service    message.Service
}

// serve brings the Service of the Workspace to what the ports of its Pod, or else spec.ports ask for, and returns what the status says about it (W84). Nothing
// else waits for it or fails because of it.
func (r *Reconciler) serve(ctx context.Context, o observation) message.Service {
	ws := objects.Served(o.ws, o.pod)
	if ws.DeletionTimestamp != nil || o.view.Failed {
		return message.Service{} // it is deleted with the Workspace
	}
	found, err := get(ctx, r.Client, ws.Namespace, objects.ServiceName(ws.Name), &corev1.Service{})
	if err != nil {
		log.FromContext(ctx).Error(err, "Cannot read the Service of the Workspace; retrying")
		return message.Service{}
	}
	service, settled := seenService(ws, found)
	if settled || ws.Spec.Pause {
		r.services.Delete(ws.UID)
		return service
	}
	if last, ok := r.services.Load(ws.UID); ok {
		if last := last.(failedService); last.generation == ws.Generation && o.now.Sub(last.at).Abs() < serviceRetry {
			return last.service
		}
	}
	ctx, cancel := context.WithTimeout(ctx, serviceTimeout)
	defer cancel()
	if service, err = r.writeService(ctx, ws, found); err == nil && service.Reason != v1alpha1.ReasonServiceForeign {
		r.services.Delete(ws.UID)
		return service
	}
	if _, ok := asRejection(err); ok {
		service = message.Service{Reason: v1alpha1.ReasonServiceRefused, Cause: err.Error()}
	} else if err != nil {
		log.FromContext(ctx).Error(err, "Cannot write the Service of the Workspace; retrying")
		service = message.Service{}
	}
	r.services.Store(ws.UID, failedService{ws.Generation, o.now, service})
	return service
}

// seenService is what the status says about a Service, nil for none, and whether it is as the spec asks.
func seenService(ws *v1alpha1.Workspace, found *corev1.Service) (service message.Service, settled bool) {
	if len(ws.Spec.Ports) == 0 {
		if found != nil && objects.OurService(ws, found) {
			return message.Service{}, false
		}
		return message.Service{Reason: v1alpha1.ReasonNoPorts}, true
	}
	if found == nil || !objects.OurService(ws, found) || found.DeletionTimestamp != nil {
		return message.Service{}, false
	}
	if _, differs := objects.MendService(ws, found); differs {
		return message.Service{}, false
	}
	return message.Service{Reason: v1alpha1.ReasonServiceReady}, true
}

// writeService creates, mends or deletes the Service. The cache has only objects of Workspaces: what it lacks is read from the API
// server itself. A Service of somebody else is left alone.
func (r *Reconciler) writeService(ctx context.Context, ws *v1alpha1.Workspace, found *corev1.Service) (message.Service, error) {
	if len(ws.Spec.Ports) == 0 {
		return message.Service{Reason: v1alpha1.ReasonNoPorts},
			classify(r.Client.Delete(ctx, found, client.Preconditions{UID: &found.UID, ResourceVersion: &found.ResourceVersion}))
	}
	if found == nil || !objects.OurService(ws, found) {
		var err error
		if found, err = get(ctx, r.APIReader, ws.Namespace, objects.ServiceName(ws.Name), &corev1.Service{}); err != nil {
			return message.Service{}, err
		}
	}
	ready := message.Service{Reason: v1alpha1.ReasonServiceReady}
	switch {
	case found == nil:
		return ready, classify(r.Client.Create(ctx, objects.Service(ws)))
	case !objects.OurService(ws, found):
		return message.Service{Reason: v1alpha1.ReasonServiceForeign}, nil
	case found.DeletionTimestamp != nil:
		return message.Service{}, nil // another one is created when it is gone
	}
	if mended, differs := objects.MendService(ws, found); differs {
		return ready, classify(r.Client.Patch(ctx, mended, client.MergeFromWithOptions(found, client.MergeFromWithOptimisticLock{})))
	}
	return ready, nil
}
