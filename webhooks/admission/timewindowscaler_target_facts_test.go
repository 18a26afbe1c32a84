package admission

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/targetkind"
)

var rollout = targetkind.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"}, Resource: "rollouts"}

// of is stored with another target.
func of(apiVersion, kind string) string {
	return strings.Replace(stored, `"apiVersion":"apps/v1","kind":"Deployment"`, `"apiVersion":"`+apiVersion+`","kind":"`+kind+`"`, 1)
}

// A target of any kind is read by the resource of its kind, once the kind is known.
func TestValidatorReadsTheTarget(t *testing.T) {
	theRollout := &unstructured.Unstructured{}
	theRollout.SetGroupVersionKind(rollout.GroupVersionKind)
	theRollout.SetNamespace("shop")
	theRollout.SetName("web")
	known := map[string]resolved{"Rollout": {kind: rollout}}
	unknown := map[string]resolved{"Rollout": {err: &targetkind.UnknownError{Kind: rollout.GroupVersionKind}}}
	holidays := quiet(t)[1]
	controlled := &appsv1.StatefulSet{ObjectMeta: named("web")}
	controlled.OwnerReferences = []metav1.OwnerReference{{Kind: "Team", Name: "shop"}, {Kind: "Database", Name: "main", Controller: ptr.To(true)}}
	for name, tc := range map[string]struct {
		cluster  cluster
		obj, old string
		warnings []string
		result   string
	}{
		"a StatefulSet": {cluster{objects: []client.Object{holidays, &appsv1.StatefulSet{ObjectMeta: named("web")}}}, of("apps/v1", "StatefulSet"), "", nil, "create allowed"},
		"a controlled one": {cluster{objects: []client.Object{holidays, controlled}}, of("apps/v1", "StatefulSet"), "", []string{
			`StatefulSet "web" is controlled by Database "main", which may overwrite what Kyklos sets: if that can be scaled, make it the target instead`,
		}, "create warned"},
		"no StatefulSet":   {cluster{objects: quiet(t)[:2]}, of("apps/v1", "StatefulSet"), "", []string{`StatefulSet "web" does not exist`}, "create warned"},
		"no DaemonSet":     {cluster{objects: quiet(t)[:2]}, of("apps/v1", "DaemonSet"), "", []string{`DaemonSet "web" does not exist`, "has the same effect as 1"}, "create warned"},
		"a further kind":   {cluster{objects: []client.Object{holidays, theRollout}, further: known}, of("argoproj.io/v1alpha1", "Rollout"), "", nil, "create allowed"},
		"none of the kind": {cluster{objects: quiet(t)[:2], further: known}, of("argoproj.io/v1alpha1", "Rollout"), "", []string{`Rollout "web" does not exist`}, "create warned"},
		"no permission": {cluster{objects: quiet(t)[:2], further: known, denied: []string{"patch"}}, of("argoproj.io/v1alpha1", "Rollout"), "",
			[]string{"Kyklos has no permission to scale rollouts.argoproj.io"}, "create warned"},
		"an unknown kind":          {cluster{objects: quiet(t)[:2], further: unknown}, of("argoproj.io/v1alpha1", "Rollout"), "", nil, "create denied"},
		"an update to it":          {cluster{objects: quiet(t)[:2], further: unknown}, of("argoproj.io/v1alpha1", "Rollout"), stored, nil, "update denied"},
		"a kind that went away":    {cluster{objects: quiet(t)[:2], further: unknown}, strings.Replace(of("argoproj.io/v1alpha1", "Rollout"), `"pause":false`, `"pause":true`, 1), of("argoproj.io/v1alpha1", "Rollout"), []string{"argoproj.io/v1alpha1 has no Rollout"}, "update warned"},
		"a cluster that is silent": {cluster{objects: quiet(t)[:2], further: map[string]resolved{"Rollout": {err: errors.New("timed out")}}}, of("argoproj.io/v1alpha1", "Rollout"), "", []string{"accepted without checking whether you may scale"}, "create warned"},
	} {
		t.Run(name, func(t *testing.T) {
			response, result := handle(t, tc.cluster.validator(t), request(tc.obj, tc.old))
			if result != tc.result {
				t.Errorf("%q, want %q: %v", result, tc.result, response.Result)
			}
			warns(t, response, tc.warnings)
		})
	}
}

// Whether metrics are served is asked for schedules with a metric only, and only a clear no counts.
func TestValidatorReadsMetrics(t *testing.T) {
	gone := apierrors.NewNotFound(schema.GroupResource{}, "")
	metric := strings.Replace(stored, `"replicas":5`, `"replicas":5,"metric":{"name":"queue","target":{"type":"Value","value":"5"},"maxReplicas":9}`, 1)
	for name, tc := range map[string]struct {
		obj  string
		apis error
		want []string
	}{
		"served":      {metric, nil, nil},
		"not served":  {metric, gone, []string{"spec.windows[0].metric: this cluster does not serve external metrics (external.metrics.k8s.io): until it does, the window's replicas apply"}},
		"down":        {metric, apierrors.NewServiceUnavailable(""), nil},
		"not asked":   {stored, gone, nil},
		"no metrics?": {stored, errors.New("asked"), nil},
	} {
		response, _ := handle(t, cluster{objects: quiet(t), apis: tc.apis}.validator(t), request(tc.obj, ""))
		if diff := cmp.Diff(tc.want, response.Warnings); diff != "" || !response.Allowed {
			t.Errorf("%s: %v (-want +got)\n%s", name, response.Result, diff)
		}
	}
}

// What another version of the API lets through is held against this one's reader.
func TestValidatorReadsTheSchedule(t *testing.T) {
	forged := strings.Replace(stored, `"replicas":5`, `"replicas":"150%"`, 1)
	response, result := handle(t, cluster{objects: quiet(t)}.validator(t), request(forged, ""))
	if result != "create denied" || len(response.Result.Details.Causes) != 1 || response.Result.Details.Causes[0].Field != "spec.windows[0].replicas" {
		t.Errorf("%q %+v", result, response.Result)
	}
	edited := strings.Replace(forged, `"pause":false`, `"pause":true`, 1)
	if response, result := handle(t, cluster{objects: quiet(t)}.validator(t), request(edited, forged)); !response.Allowed {
		t.Errorf("an edit of what was there before: %q %+v", result, response.Result)
	}
}
