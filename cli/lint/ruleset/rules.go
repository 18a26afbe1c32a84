package ruleset

import (
	"context"
	"fmt"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/webhooks/admission"
)

// rules asks Kyklos's validating webhooks, which the API server calls for what it would otherwise take.
func (r *run) rules(ctx context.Context, m *member) {
	if m.refused {
		return
	}
	sources := admission.Sources{Objects: reader{r.inventory, m}, Kinds: r.inventory.kinds, APIs: r.inventory}
	switch {
	case m.scaler != nil:
		r.scalerRules(m, sources.Facts(ctx, m.scaler))
	case m.workspace != nil:
		r.workspaceRules(m, sources.WorkspaceFacts(ctx, m.workspace, m.oldWorkspace == nil))
	}
}

// ServerResourcesForGroupVersionWithContext asks the cluster which APIs there are.
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

// scalerClues tell what a message of the webhook is about: it is gone without the fact. forget takes
// the fact away and says whether there was one.
var scalerClues = []struct {
	rule   lint.Rule
	forget func(*admission.Facts) bool
}{
	{lint.TargetShared, func(f *admission.Facts) bool { had := len(f.Rivals) > 0; f.Rivals = nil; return had }},
	{lint.TargetKind, func(f *admission.Facts) bool { had := f.Unscalable != nil; f.Unscalable = nil; return had }},
	{lint.TargetMissing, func(f *admission.Facts) bool { had := f.TargetMissing; f.TargetMissing = false; return had }},
	{lint.TargetAutoscaled, func(f *admission.Facts) bool { had := len(f.Autoscalers) > 0; f.Autoscalers = nil; return had }},
	{lint.Holidays, func(f *admission.Facts) bool { had := f.Holidays != nil; f.Holidays = nil; return had }},
	{lint.MetricsMissing, func(f *admission.Facts) bool { had := f.MetricsMissing; f.MetricsMissing = false; return had }},
}

// scalerRules are the webhook's. It is not asked when an update leaves spec alone.
func (r *run) scalerRules(m *member, facts admission.Facts) {
	obj, old := m.scaler, m.oldScaler
	if old != nil && apiequality.Semantic.DeepEqual(old.Spec, obj.Spec) {
		return
	}
	if old != nil && m.object.GroupVersionKind().Version == v1alpha1.GroupVersion.Version {
		for _, warning := range admission.WarnConversion(m.oldHub, m.hub) {
			m.warn(lint.Warned, warning)
		}
		for _, err := range admission.ValidateConversion(m.oldHub) {
			m.add(lint.Error, lint.Refused, err.Field, err.ErrorBody())
		}
	}
	// The rules are pure, so they can be asked again without one of the facts.
	ruleOf := make(map[string]lint.Rule) // by the message
	warnings, errs := admission.WarnTimeWindowScaler(obj, old, facts, r.Now), admission.ValidateTimeWindowScaler(obj, old, facts)
	for _, clue := range scalerClues {
		without := facts
		if !clue.forget(&without) {
			continue
		}
		fewer := admission.WarnTimeWindowScaler(obj, old, without, r.Now)
		for _, warning := range warnings {
			if !slices.Contains(fewer, warning) {
				ruleOf[warning] = clue.rule
			}
		}
		errors := admission.ValidateTimeWindowScaler(obj, old, without).ToAggregate()
		for _, err := range errs {
			if errors == nil || !slices.ContainsFunc(errors.Errors(), func(e error) bool { return e.Error() == err.Error() }) {
				ruleOf[err.Error()] = clue.rule
			}
		}
	}
	for _, err := range errs {
		rule := known(ruleOf[err.Error()], lint.Refused)
		m.add(lint.Error, rule, err.Field, err.ErrorBody()+r.inventory.elsewhere(m, rule, facts))
	}
	for _, warning := range warnings {
		rule := known(ruleOf[warning], lint.Warned)
		if rule == lint.TargetShared && !m.stored {
			warning = fmt.Sprintf("spec.targetRef.name: TimeWindowScaler %q names %s %q too: the older of the two scales it, and the other does nothing",
				facts.Rivals[0].Name, obj.Spec.TargetRef.Kind, obj.Spec.TargetRef.Name) // which is older, files do not say
		}
		m.warn(rule, warning+r.inventory.elsewhere(m, rule, facts))
	}
}

// known is the rule that a clue has found.
func known(rule, otherwise lint.Rule) lint.Rule {
	if rule == "" {
		return otherwise
	}
	return rule
}

// elsewhere says where in the set the other object of a message stands, in brackets; "" if it is not in the set.
func (inv *inventory) elsewhere(m *member, rule lint.Rule, facts admission.Facts) string {
	other := identity{NamespacedName: m.at.NamespacedName}
	switch rule {
	case lint.TargetShared:
		owner := slices.MinFunc(facts.Rivals, func(a, b *v1beta1.TimeWindowScaler) int {
			if targetkind.Precedes(a, b) {
				return -1
			}
			return 1
		})
		other.GroupKind, other.Name = v1beta1.GroupKind, owner.Name
	case lint.TargetAutoscaled:
		other.GroupKind, other.Name = autoscaler, slices.Min(facts.Autoscalers)
	case lint.Holidays:
		other.GroupKind, other.Name = configMap, m.scaler.Spec.Holidays.SourceRef.Name
	}
	if there := inv.set[other]; there != nil && there != m {
		return " (" + there.object.Place() + ")"
	}
	return ""
}

// workspaceRules are the webhook's.
func (r *run) workspaceRules(m *member, facts admission.WorkspaceFacts) {
	if old := m.oldWorkspace; old != nil && apiequality.Semantic.DeepEqual(old.Spec, m.workspace.Spec) {
		return
	}
	warnings := admission.WarnWorkspace(m.workspace, m.oldWorkspace, facts)
	noStore, noNames := facts, facts
	noStore.StoreMissing, noNames.ForeignPod, noNames.ForeignVolume = false, false, false
	withoutStore := admission.WarnWorkspace(m.workspace, m.oldWorkspace, noStore)
	withoutNames := admission.WarnWorkspace(m.workspace, m.oldWorkspace, noNames)
	for _, warning := range warnings {
		rule := lint.Warned
		switch {
		case !slices.Contains(withoutStore, warning):
			rule = lint.StoreMissing
		case !slices.Contains(withoutNames, warning):
			rule = lint.NameTaken
		}
		m.warn(rule, warning)
	}
}
