package admission_test

import (
	"errors"
	"testing"

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
	checkCases(t, map[string]findingsCase{
		"a kind that exists":        {obj: office(rollout)},
		"an unknown kind":           {obj: office(rollout), facts: missing, want: []string{"target-kind spec.targetRef.kind: Invalid value"}},
		"a kind of another version": {obj: office(withKind("argoproj.io/v1", "Rollout")), facts: elsewhere, want: []string{"target-kind spec.targetRef.apiVersion: Invalid value"}},
		"a kind spelt otherwise":    {obj: office(withKind("argoproj.io/v1alpha1", "RollOut")), facts: misspelt, want: []string{"target-kind spec.targetRef.kind: Invalid value"}},
		"no scale":                  {obj: office(pod), facts: noScale, want: []string{"target-kind spec.targetRef.kind: Invalid value"}},
		"an update to it":           {obj: office(pod), old: office(), facts: noScale, want: []string{"target-kind spec.targetRef.kind: Invalid value"}},
		"another version of it":     {obj: office(withKind("argoproj.io/v1", "Rollout")), old: office(rollout), facts: elsewhere, want: []string{"target-kind spec.targetRef.apiVersion: Invalid value"}},
		"a kind from before":        {obj: office(rollout, inZone("UTC")), old: office(rollout), facts: missing, want: []string{"target-kind spec.targetRef.kind"}},
		"its name is corrected":     {obj: office(rollout, withTarget("shop", "api")), old: office(rollout), facts: missing, want: []string{"target-kind spec.targetRef.kind"}},
		"no scale any more":         {obj: office(pod, inZone("UTC")), old: office(pod), facts: noScale, want: []string{"target-kind spec.targetRef.kind"}},
		"away from it":              {obj: office(), old: office(pod)},
		"an apiVersion filled in":   {obj: office(), old: office(withKind("", "Deployment"))},
		"no permission": {obj: office(rollout), facts: admission.Facts{Forbidden: &targetkind.ForbiddenError{Kind: targetkind.Kind{GroupVersionKind: rolloutKind, Resource: "rollouts"}}}, want: []string{
			"target-permission spec.targetRef.kind",
		}},
	})
}

// What a user reads whose right to scale is missing, could not be reviewed, or who may not see the other schedule.
func TestRequesters(t *testing.T) {
	deployment, daemonSet := targetkind.Deployment.Scaling()[0], targetkind.DaemonSet.Scaling()[0]
	lacks := func(right *targetkind.Right) admission.Facts {
		return admission.Facts{Requester: admission.RequesterFacts{Lacks: right, User: "system:serviceaccount:shop:deployer"}}
	}
	hidden := admission.Facts{Owner: office(), OwnerHidden: true}
	checkCases(t, map[string]findingsCase{
		"no right":         {obj: office(), facts: lacks(&deployment), want: []string{"requester-permission spec.targetRef.name: Forbidden"}},
		"nor on update":    {obj: office(inZone("UTC")), old: office(), facts: lacks(&deployment), want: []string{"requester-permission spec.targetRef.name: Forbidden"}},
		"no DaemonSet":     {obj: office(withKind("apps/v1", "DaemonSet")), facts: lacks(&daemonSet), want: []string{"requester-permission spec.targetRef.name: Forbidden", "replicas-above-one spec.windows[0].replicas"}},
		"nobody knows":     {obj: office(), facts: admission.Facts{Requester: admission.RequesterFacts{Unknown: errors.New("away")}}, want: []string{"requester-permission spec.targetRef.name"}},
		"a hidden owner":   {obj: office(), facts: hidden, want: []string{"target-shared spec.targetRef.name: Duplicate value"}},
		"and on an update": {obj: office(inZone("UTC")), old: office(), facts: hidden},
	})
}
