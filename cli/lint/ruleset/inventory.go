package ruleset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// errUnknown says that nobody knows whether there is an object.
var errUnknown = errors.New("the manifests have no such object, and no cluster was asked")

// The kinds that the rules look at beside Kyklos's own.
var (
	configMap    = corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind()
	autoscaler   = autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler").GroupKind()
	scaledObject = schema.GroupKind{Group: "keda.sh", Kind: "ScaledObject"}
)

// inventory is all that there is: the objects of the set, and behind them those of the cluster.
type inventory struct {
	set map[identity]*member // of those that are there twice, the last
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

// unread is what of the cluster could not be read, by kind.
type unread struct {
	mu     sync.Mutex
	failed map[string]error
}

// scaled is a ScaledObject of KEDA, and what it scales.
type scaled struct {
	name   string
	target schema.GroupKind
	of     string
	member *member // nil if it is the cluster's
}

// newInventory takes in the members whose verdicts are known, and reads nothing of the cluster yet.
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
			inv.scaledObjects[m.at.Namespace] = append(inv.scaledObjects[m.at.Namespace], readScaled(m.object.Object, m))
		}
	}
	return inv
}

// load reads from the cluster what the rules will ask for, before they ask: they do not wait long.
func (inv *inventory) load(ctx context.Context) {
	if inv.cluster == nil {
		return
	}
	namespaces := make(map[string]bool)
	for at := range inv.set {
		namespaces[at.Namespace] = true
	}
	for namespace := range namespaces {
		_, err := inv.cluster.scalers.in(ctx, inv.cluster.Reader, namespace)
		inv.fail(plural(v1beta1.Kind), err)
		_, err = inv.cluster.autoscalers.in(ctx, inv.cluster.Reader, namespace)
		inv.fail(plural(autoscaler.Kind), err)
		_, err = inv.cluster.scaledObject.in(ctx, inv.cluster.Reader, namespace)
		inv.fail(plural(scaledObject.Kind), err)
	}
}

// age gives a new scaler the time at which it would be made: after all that exist, and in the order of the
// set. One that the cluster has keeps its own.
func (inv *inventory) age(m *member) {
	if m.stored && m.oldScaler != nil {
		m.scaler.CreationTimestamp, m.scaler.UID = m.oldScaler.CreationTimestamp, m.oldScaler.UID
		return
	}
	m.scaler.CreationTimestamp = metav1.NewTime(inv.now.Add(time.Duration(m.index) * time.Second))
}

// readAutoscaler reads of any version what they have in common: the target.
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

// readScaled reads what a ScaledObject scales: a Deployment unless it says otherwise.
func readScaled(content map[string]any, m *member) *scaled {
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(content, fields...)
		return value
	}
	kind, version := text("spec", "scaleTargetRef", "kind"), text("spec", "scaleTargetRef", "apiVersion")
	if kind == "" {
		kind = targetkind.Deployment.Kind
	}
	if version == "" {
		version = targetkind.Deployment.GroupVersion().String()
	}
	return &scaled{
		name:   text("metadata", "name"),
		target: schema.FromAPIVersionAndKind(version, kind).GroupKind(),
		of:     text("spec", "scaleTargetRef", "name"),
		member: m,
	}
}

// rivals are the set's scalers that have the target of a scaler when that one is applied: those before it,
// and those after it that had the target already.
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

// fail notes that something of the cluster could not be read, if err says so.
func (u *unread) fail(what string, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err != nil && u.failed[what] == nil {
		u.failed[what] = err
	}
}

// notes are a sentence for each kind that could not be read.
func (u *unread) notes() []string {
	var notes []string
	for what, err := range u.failed {
		notes = append(notes, fmt.Sprintf("cannot read %s from the cluster, and judged without them: %v", what, err))
	}
	slices.Sort(notes)
	return notes
}
