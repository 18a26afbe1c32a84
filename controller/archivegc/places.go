package archivegc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive/connect"
)

// place is one object store. Any number of Secrets may lead to it: those of several namespaces, or of
// one whose credentials have run out.
type place struct {
	id, address string
	// secrets lead to it now, by NAMESPACE/NAME.
	secrets map[string]map[string][]byte
	// named: a Workspace names one of them.
	named bool
}

// places finds the stores that Workspaces name, and those that they named once. What a Secret says of itself
// decides which store it leads to; one that is missing, or wrong, leads nowhere: its Workspaces' own
// conditions say so.
func (c *Collector) places(ctx context.Context, workspaces []v1alpha1.Workspace, known map[string]entry) (map[string]*place, error) {
	named := map[string]bool{}
	for _, e := range known {
		for _, secret := range e.Secrets {
			named[secret] = false
		}
	}
	for i := range workspaces {
		if archive := workspaces[i].Spec.Archive; archive != nil {
			named[workspaces[i].Namespace+"/"+archive.StoreRef.Name] = true
		}
	}
	found := map[string]*place{}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		data, err := c.secret(ctx, name)
		if err != nil {
			return nil, err
		}
		address := connect.Address(data)
		if address == "" {
			continue
		}
		id := idOf(address)
		if found[id] == nil {
			found[id] = &place{id: id, address: address, secrets: map[string]map[string][]byte{}}
		}
		found[id].secrets[name] = data
		found[id].named = found[id].named || named[name]
	}
	return found, nil
}

// secret reads a Secret, nil if it is not there.
func (c *Collector) secret(ctx context.Context, name string) (map[string][]byte, error) {
	namespace, name, _ := strings.Cut(name, "/")
	var secret corev1.Secret
	err := c.Live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case apierrors.IsForbidden(err): // of a namespace that is not served any more
		c.Log.Info("A Secret that led to a store cannot be read any more", "namespace", namespace, "name", name, "error", err.Error())
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the Secret %s in %s: %w", name, namespace, err)
	}
	return secret.Data, nil
}

// idOf names a store where an address does not fit.
func idOf(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:5])
}
