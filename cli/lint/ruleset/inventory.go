package ruleset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/targetkind"
)

// errUnknown: an object may or may not exist.
var errUnknown = errors.New("not in the manifests, and no cluster is given")

// Further kinds that the rules read.
var (
	autoscaler   = autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler").GroupKind()
	scaledObject = schema.GroupKind{Group: "keda.sh", Kind: "ScaledObject"}
)

// inventory are all known objects: those of the set, and those of the cluster that they do not replace.
type inventory struct {
	set map[identity]*member // of duplicates, the last
	// scalers are the set's by the name of their target, in the order of the set.
	scalers map[types.NamespacedName][]*member
	// autoscalers and scaledObjects are the set's by namespace.
	autoscalers   map[string][]*autoscalingv2.HorizontalPodAutoscaler
	scaledObjects map[string][]*scaled
	kinds         *kindSource
	cluster       *Cluster
	now           time.Time
	*unread
}

// unread are the errors of reading the cluster, by kind.
type unread struct {
	mu     sync.Mutex
	failed map[string]error
}

// scaled is a KEDA ScaledObject with the kind and name of its target.
type scaled struct {
	name   string
	target schema.GroupKind
	of     string
}

// newInventory adds the members, and does not read the cluster yet.
func newInventory(members []*member, options Options, kinds *kindSource, unread *unread) *inventory {
	inv := &inventory{
		set:           make(map[identity]*member),
		scalers:       make(map[types.NamespacedName][]*member),
		autoscalers:   make(map[string][]*autoscalingv2.HorizontalPodAutoscaler),
		scaledObjects: make(map[string][]*scaled),
		kinds:         kinds,
		cluster:       options.Cluster,
		now:           options.Now,
		unread:        unread,
	}
	for _, m := range members {
		if m.at.Name != "" {
			inv.set[m.at] = m
		}
		switch {
		case m.scaler != nil:
			inv.age(m)
			target := types.NamespacedName{Namespace: m.at.Namespace, Name: m.scaler.Spec.TargetRef.Name}
			inv.scalers[target] = append(inv.scalers[target], m)
		case m.at.GroupKind == autoscaler:
			if hpa := readAutoscaler(m.object.Object, m.at.NamespacedName); hpa != nil {
				inv.autoscalers[m.at.Namespace] = append(inv.autoscalers[m.at.Namespace], hpa)
			}
		case m.at.GroupKind == scaledObject:
			inv.scaledObjects[m.at.Namespace] = append(inv.scaledObjects[m.at.Namespace], readScaled(m.object.Object))
		}
	}
	return inv
}

// load lists the cluster's objects ahead, because admission's reads time out quickly.
func (inv *inventory) load(ctx context.Context) {
	for at := range inv.set {
		for kind, err := range inv.storedIn(ctx, at.Namespace).failed {
			inv.fail(plural(kind), err)
		}
	}
}

// storedIn returns the lists of a namespace in the cluster, empty without one.
func (inv *inventory) storedIn(ctx context.Context, namespace string) *stored {
	if inv.cluster == nil {
		return &stored{}
	}
	return inv.cluster.in(ctx, namespace)
}

// replaces reports whether the set has a stored object.
func (inv *inventory) replaces(kind schema.GroupKind, object client.Object) bool {
	return inv.set[identity{kind, client.ObjectKeyFromObject(object)}] != nil
}

// age sets the creation time of a new scaler: after all existing ones, in the order of the set. A stored one keeps
// its own.
func (inv *inventory) age(m *member) {
	if m.stored && m.oldScaler != nil {
		m.scaler.CreationTimestamp, m.scaler.UID = m.oldScaler.CreationTimestamp, m.oldScaler.UID
		return
	}
	m.scaler.CreationTimestamp = metav1.NewTime(inv.now.Add(time.Duration(m.index) * time.Second))
}

// readAutoscaler reads the target, which is the same in all versions.
func readAutoscaler(content map[string]any, key types.NamespacedName) *autoscalingv2.HorizontalPodAutoscaler {
	target, ok, _ := unstructured.NestedMap(content, "spec", "scaleTargetRef")
	if !ok {
		return nil
	}
	hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(target, &hpa.Spec.ScaleTargetRef) != nil {
		return nil
	}
	return hpa
}

// readScaled reads the target of a ScaledObject, a Deployment by default.
func readScaled(content map[string]any) *scaled {
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(content, fields...)
		return value
	}
	kind := cmp.Or(text("spec", "scaleTargetRef", "kind"), targetkind.Deployment.Kind)
	version := cmp.Or(text("spec", "scaleTargetRef", "apiVersion"), targetkind.Deployment.GroupVersion().String())
	return &scaled{
		name:   text("metadata", "name"),
		target: schema.FromAPIVersionAndKind(version, kind).GroupKind(),
		of:     text("spec", "scaleTargetRef", "name"),
	}
}

// rivals returns the set's scalers that have the same target when a scaler is applied: earlier ones, and later
// ones that update a scaler with this target.
func (inv *inventory) rivals(m *member) []*member {
	var found []*member
	ref := m.scaler.Spec.TargetRef
	for _, other := range inv.scalers[types.NamespacedName{Namespace: m.at.Namespace, Name: ref.Name}] {
		if other.at == m.at || !targetkind.SameTarget(other.scaler.Spec.TargetRef, ref) {
			continue
		}
		had := other.oldScaler != nil && targetkind.SameTarget(other.oldScaler.Spec.TargetRef, ref)
		if other.index < m.index || had {
			found = append(found, other)
		}
	}
	return found
}

// fail records err, if any, for Notes.
func (u *unread) fail(what string, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err != nil && u.failed[what] == nil {
		u.failed[what] = err
	}
}

func (u *unread) notes() []string {
	var notes []string
	for what, err := range u.failed {
		notes = append(notes, fmt.Sprintf("cannot read %s from the cluster, continuing without them: %v", what, err))
	}
	slices.Sort(notes)
	return notes
}
