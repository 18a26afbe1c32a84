package admission

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
)

// Sources are what a program other than the manager gathers facts from, as the webhooks do. A fact that a
// source gives an error for is not known.
type Sources struct {
	// Objects holds what other objects say. It has to understand targetkind.NameField.
	Objects client.Reader
	// Kinds says what can be a target: a targetkind.Resolver.
	Kinds kinds
	// APIs says which APIs are served: a discovery client.
	APIs apis
}

// Facts are those about obj. What Kyklos is permitted to do is not known: whoever asks is not the manager.
func (s Sources) Facts(ctx context.Context, obj *v1beta1.TimeWindowScaler) Facts {
	return factReader{cached: s.Objects, live: s.Objects, kinds: s.Kinds, apis: s.APIs}.gather(ctx, obj)
}

// WorkspaceFacts are those about obj; created says that it replaces no other.
func (s Sources) WorkspaceFacts(ctx context.Context, obj *v1alpha1.Workspace, created bool) WorkspaceFacts {
	return workspaceReader{live: s.Objects}.gather(ctx, obj, created)
}
