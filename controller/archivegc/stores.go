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

// store is one object store. Any number of Secrets may give access to it: those of several namespaces, some with
// expired credentials.
type store struct {
	id, address string
	// secrets are those that exist, by NAMESPACE/NAME.
	secrets map[string]map[string][]byte
	// referenced: a Workspace refers to one of them.
	referenced bool
}

// stores finds the stores that Workspaces refer to, and those in the ledger. Missing and invalid Secrets are ignored:
// the Workspaces' own conditions report them.
func (c *Collector) stores(ctx context.Context, workspaces []v1alpha1.Workspace, known map[string]entry) (map[string]*store, error) {
	referenced := map[string]bool{}
	for _, e := range known {
		for _, secret := range e.Secrets {
			referenced[secret] = false
		}
	}
	for i := range workspaces {
		if archive := workspaces[i].Spec.Archive; archive != nil {
			referenced[workspaces[i].Namespace+"/"+archive.StoreRef.Name] = true
		}
	}
	found := map[string]*store{}
	for _, name := range slices.Sorted(maps.Keys(referenced)) {
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
			found[id] = &store{id: id, address: address, secrets: map[string]map[string][]byte{}}
		}
		found[id].secrets[name] = data
		found[id].referenced = found[id].referenced || referenced[name]
	}
	return found, nil
}

// secret reads a Secret; nil if it does not exist.
func (c *Collector) secret(ctx context.Context, name string) (map[string][]byte, error) {
	namespace, name, _ := strings.Cut(name, "/")
	var secret corev1.Secret
	err := c.Live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case apierrors.IsForbidden(err): // its namespace is no longer served
		c.Log.Info("No permission to read the Secret of a store any more", "namespace", namespace, "name", name, "error", err.Error())
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get Secret %s in namespace %s: %w", name, namespace, err)
	}
	return secret.Data, nil
}

// idOf identifies a store where an address does not fit.
func idOf(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:5])
}
