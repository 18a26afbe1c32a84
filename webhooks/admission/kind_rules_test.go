package admission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/webhooks/admission"
)

var (
	rolloutKind = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"}
	podKind     = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
)

func withKind(apiVersion, kind string) func(*v1beta1.TimeWindowScaler) {
	return func(obj *v1beta1.TimeWindowScaler) {
		obj.Spec.TargetRef.APIVersion, obj.Spec.TargetRef.Kind = apiVersion, kind
	}
}

func unscalable(err error) admission.Facts { return admission.Facts{Unscalable: err} }

func TestKinds(t *testing.T) {
	missing := unscalable(&targetkind.UnknownError{Kind: rolloutKind})
	elsewhere := unscalable(&targetkind.UnknownError{Kind: schema.GroupVersionKind{Group: "argoproj.io", Version: "v1", Kind: "Rollout"}, Elsewhere: []schema.GroupVersionKind{rolloutKind}})
	misspelt := unscalable(&targetkind.UnknownError{Kind: schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "RollOut"}, Elsewhere: []schema.GroupVersionKind{rolloutKind}})
	noScale := unscalable(&targetkind.NotScalableError{Kind: podKind})
	rollout, pod := withKind("argoproj.io/v1alpha1", "Rollout"), withKind("v1", "Pod")
	const (
		hasNone = `spec.targetRef.kind: Invalid value: "Rollout": argoproj.io/v1alpha1 has no Rollout, and nothing else in this cluster has one that can be scaled: install what brings this kind, or correct apiVersion and kind`
		cannot  = `spec.targetRef.kind: Invalid value: "Pod": Pod of v1 cannot be scaled: it has no scale subresource, through which a replica count is set`
	)
	for name, tc := range map[string]struct {
		obj, old    *v1beta1.TimeWindowScaler
		facts       admission.Facts
		errs, warns []string
	}{
		"a kind that exists": {obj: office(rollout)},
		"an unknown kind":    {obj: office(rollout), facts: missing, errs: []string{hasNone}},
		"a kind of another version": {obj: office(withKind("argoproj.io/v1", "Rollout")), facts: elsewhere, errs: []string{
			`spec.targetRef.apiVersion: Invalid value: "argoproj.io/v1": argoproj.io/v1 has no Rollout; argoproj.io/v1alpha1 has: set apiVersion to argoproj.io/v1alpha1`}},
		"a kind spelt otherwise": {obj: office(withKind("argoproj.io/v1alpha1", "RollOut")), facts: misspelt, errs: []string{
			`spec.targetRef.kind: Invalid value: "RollOut": argoproj.io/v1alpha1 has no RollOut; argoproj.io/v1alpha1 has Rollout: correct kind, and apiVersion with it`}},
		"no scale":                {obj: office(pod), facts: noScale, errs: []string{cannot}},
		"an update to it":         {obj: office(pod), old: office(), facts: noScale, errs: []string{cannot}},
		"another version of it":   {obj: office(withKind("argoproj.io/v1", "Rollout")), old: office(rollout), facts: elsewhere, errs: []string{`spec.targetRef.apiVersion: Invalid value: "argoproj.io/v1": argoproj.io/v1 has no Rollout; argoproj.io/v1alpha1 has: set apiVersion to argoproj.io/v1alpha1`}},
		"a kind from before":      {obj: office(rollout, inZone("UTC")), old: office(rollout), facts: missing, warns: []string{"spec.targetRef.kind: argoproj.io/v1alpha1 has no Rollout: nothing is scaled until it has"}},
		"its name is corrected":   {obj: office(rollout, withTarget("shop", "api")), old: office(rollout), facts: missing, warns: []string{"spec.targetRef.kind: argoproj.io/v1alpha1 has no Rollout: nothing is scaled until it has"}},
		"no scale any more":       {obj: office(pod, inZone("UTC")), old: office(pod), facts: noScale, warns: []string{"spec.targetRef.kind: Pod of v1 cannot be scaled: nothing is done while this is the target"}},
		"away from it":            {obj: office(), old: office(pod)},
		"an apiVersion filled in": {obj: office(), old: office(withKind("", "Deployment"))},
		"no permission": {obj: office(rollout), facts: admission.Facts{Forbidden: &targetkind.ForbiddenError{Kind: targetkind.Kind{GroupVersionKind: rolloutKind, Resource: "rollouts"}}}, warns: []string{
			`spec.targetRef.kind: Kyklos has no permission to scale rollouts.argoproj.io: allow it by a ClusterRole with the label kyklos.io/aggregate-to-manager: "true", as docs/targets.md shows`}},
	} {
		t.Run(name, func(t *testing.T) {
			var errs []string
			for _, err := range admission.ValidateTimeWindowScaler(tc.obj, tc.old, tc.facts) {
				errs = append(errs, err.Error())
			}
			if diff := cmp.Diff(tc.errs, errs); diff != "" {
				t.Errorf("refused for (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tc.warns, admission.WarnTimeWindowScaler(tc.obj, tc.old, tc.facts, november)); diff != "" {
				t.Errorf("warned of (-want +got)\n%s", diff)
			}
		})
	}
}
