package ruleset

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/webhooks/admission"
)

// callWebhooks applies the rules of Kyklos's validating webhooks to an object that the API server accepts. They
// are not called for updates that leave spec unchanged.
func (r *run) callWebhooks(ctx context.Context, m *member) {
	if m.refused {
		return
	}
	sources := admission.Sources{Objects: reader{r.inventory, m}, Kinds: r.inventory.kinds, APIs: r.inventory}
	if obj, old := m.scaler, m.oldScaler; obj != nil && (old == nil || !apiequality.Semantic.DeepEqual(old.Spec, obj.Spec)) {
		if m.spoke != nil {
			if _, findings, err := admission.CheckConversion(ctx, m.oldHub, m.spoke); err == nil {
				r.addFindings(m, findings)
			}
		}
		r.addFindings(m, admission.CheckTimeWindowScaler(obj, old, sources.Facts(ctx, obj), r.Now))
	}
	if obj, old := m.workspace, m.oldWorkspace; obj != nil && (old == nil || !apiequality.Semantic.DeepEqual(old.Spec, obj.Spec)) {
		r.addFindings(m, admission.CheckWorkspace(obj, old, sources.WorkspaceFacts(ctx, obj, old)))
	}
}

// addFindings adds what the webhooks report, with the place of the other object if that is in the set. Rules
// that lint does not list are summed up as refused or warned.
func (r *run) addFindings(m *member, findings admission.Findings) {
	for _, f := range findings {
		severity, rule := lint.Warning, lint.Warned
		if f.Err != nil {
			severity, rule = lint.Error, lint.Refused
		}
		if listed := lint.Rule(f.Rule); listed.Description() != "" {
			rule = listed
		}
		if f.Rule == admission.TargetShared && f.Err == nil && !m.stored {
			ref := m.scaler.Spec.TargetRef // manifests do not have an age
			f.Message = fmt.Sprintf("TimeWindowScaler %q has the same target %s %q: only one of the two scales it, and the other does nothing",
				f.Other.Name, ref.Kind, ref.Name)
		}
		other := identity{f.Other.GroupKind, types.NamespacedName{Namespace: m.at.Namespace, Name: f.Other.Name}}
		m.add(severity, rule, f.Field, f.Message+r.inventory.place(m, other))
	}
}

// place returns where in the set another object than m is, in brackets; "" if it is not in the set.
func (inv *inventory) place(m *member, other identity) string {
	if found := inv.set[other]; found != nil && found != m {
		return " (" + found.object.Place() + ")"
	}
	return ""
}

// ServerResourcesForGroupVersionWithContext returns the cluster's APIs.
func (inv *inventory) ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error) {
	if inv.cluster == nil {
		return nil, errUnknown
	}
	list, err := inv.cluster.apis.ServerResourcesForGroupVersionWithContext(ctx, groupVersion)
	if err != nil && !isAbsent(err) {
		inv.fail("APIs", err)
	}
	return list, err
}
