package admission

import (
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// A finding tells a user only what the user may read; without the right it is left out, or does not say which object it is.
func TestFindingsHideWhatTheUserMayNotRead(t *testing.T) {
	keys := &corev1.ConfigMap{ObjectMeta: named("public-holidays"), Data: map[string]string{"password": ""}}
	rival := scaler(t, func(o *v1beta1.TimeWindowScaler) { o.Name = "night" })
	deployment := &appsv1.Deployment{ObjectMeta: named("web")}
	for name, tc := range map[string]struct {
		objects       []client.Object
		lacks         string
		told, untold  string // with the right, and what must not be said without it
		result, blind string // with the right, and without it
	}{
		"keys of a ConfigMap":   {[]client.Object{deployment, keys}, "get configmaps", "password", "password", "create warned", "create allowed"},
		"a ConfigMap":           {[]client.Object{deployment}, "get configmaps", "ConfigMap", "ConfigMap", "create warned", "create allowed"},
		"a target":              {[]client.Object{quiet(t)[1]}, "get deployments.apps", "does not exist", "does not exist", "create warned", "create allowed"},
		"an autoscaler":         {append(quiet(t)[:2], hpa("secret", "apps/v1", "Deployment", "web")), "list horizontalpodautoscalers.autoscaling", `"secret"`, "secret", "create warned", "create allowed"},
		"the owner of a target": {append(quiet(t)[:2], rival), "list timewindowscalers.kyklos.io", "night", "night", "create denied", "create denied"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, lacks := range [][]string{nil, {tc.lacks}} {
				want := tc.result
				if lacks != nil {
					want = tc.blind
				}
				response, result := handle(t, cluster{objects: tc.objects, janeLacks: lacks}.validator(t), request(stored, ""))
				said := strings.Join(response.Warnings, "\n")
				if response.Result != nil {
					said += response.Result.Message
				}
				if result != want || lacks == nil && !strings.Contains(said, tc.told) || lacks != nil && strings.Contains(said, tc.untold) {
					t.Errorf("without %q: %s, want %s: %s", lacks, result, want, said)
				}
			}
		})
	}
}

// An update does not name the other schedule either, and is not refused because of it.
func TestAnUpdateDoesNotNameTheHiddenRival(t *testing.T) {
	rival := scaler(t, func(o *v1beta1.TimeWindowScaler) { o.Name = "night" })
	c := cluster{objects: append(quiet(t)[:2], rival), janeLacks: []string{"list timewindowscalers.kyklos.io"}}
	response, result := handle(t, c.validator(t), request(strings.Replace(stored, `"pause":false`, `"pause":true`, 1), stored))
	if result != "update allowed" || len(response.Warnings) > 0 {
		t.Errorf("%s %q", result, response.Warnings)
	}
}

// Who calls the port without an API server is nobody, and is told nothing about objects.
func TestNobodyIsToldNothing(t *testing.T) {
	req := request(stored, "")
	req.UserInfo = authenticationv1.UserInfo{}
	c := cluster{objects: []client.Object{&corev1.ConfigMap{ObjectMeta: named("public-holidays"), Data: map[string]string{"password": ""}}, hpa("secret", "apps/v1", "Deployment", "web")}}
	if response, _ := handle(t, c.validator(t), req); len(response.Warnings) > 0 || strings.Contains(response.Result.Message, "password") {
		t.Errorf("%q %v", response.Warnings, response.Result)
	}
	home := request(home, "")
	home.UserInfo = authenticationv1.UserInfo{}
	if response, _ := handle(t, workspaces(t, c.broken, nil, nil), home); len(response.Warnings) > 0 {
		t.Errorf("%q", response.Warnings)
	}
}

// Facts are of one namespace: the request's, in which the user's rights are reviewed, and the object's.
func TestARequestForAnotherNamespace(t *testing.T) {
	for _, old := range []string{"", strings.Replace(stored, `"pause":false`, `"pause":true`, 1)} {
		req := request(stored, old)
		req.Namespace = "back"
		if response := (cluster{objects: quiet(t)}).validator(t).Handle(t.Context(), req); response.Allowed || response.Result.Code != 400 {
			t.Errorf("%v %v", response.Allowed, response.Result)
		}
	}
}

// Whoever may not scale a target may not schedule it, whatever its kind: on create, and on every change of the spec.
func TestTheAuthorMayScaleTheTarget(t *testing.T) {
	further := map[string]resolved{"Rollout": {kind: rollout}, "Workspace": {kind: targetkind.Workspace}}
	for name, tc := range map[string]struct {
		obj   string
		lacks []string
		says  string // empty if it is allowed
	}{
		"a Deployment":                   {stored, []string{"patch deployments.apps/scale", "patch deployments.apps"}, "patch on deployments.apps/scale"},
		"a Deployment as a whole":        {stored, []string{"patch deployments.apps/scale"}, ""},
		"its scale alone":                {stored, []string{"patch deployments.apps"}, ""},
		"a StatefulSet":                  {of("apps/v1", "StatefulSet"), []string{"patch statefulsets.apps/scale", "patch statefulsets.apps"}, "patch on statefulsets.apps/scale"},
		"a DaemonSet":                    {of("apps/v1", "DaemonSet"), []string{"patch daemonsets.apps"}, "patch on daemonsets.apps"},
		"a DaemonSet's scale is nothing": {of("apps/v1", "DaemonSet"), []string{"patch daemonsets.apps/scale"}, ""},
		"a Workspace":                    {of("kyklos.io/v1alpha1", "Workspace"), []string{"patch workspaces.kyklos.io"}, "patch on workspaces.kyklos.io"},
		"a further kind":                 {of("argoproj.io/v1alpha1", "Rollout"), []string{"patch rollouts.argoproj.io/scale", "patch rollouts.argoproj.io"}, "patch on rollouts.argoproj.io/scale"},
	} {
		t.Run(name, func(t *testing.T) {
			edited := strings.Replace(tc.obj, `"replicas":5`, `"replicas":6`, 1)
			for _, req := range []struct{ obj, old string }{{tc.obj, ""}, {edited, tc.obj}} {
				response, _ := handle(t, cluster{objects: quiet(t), further: further, janeLacks: tc.lacks}.validator(t), request(req.obj, req.old))
				if response.Allowed != (tc.says == "") || !response.Allowed && (!strings.Contains(response.Result.Message, tc.says) || response.Result.Details.Causes[0].Field != "spec.targetRef.name") {
					t.Errorf("%v %v", response.Allowed, response.Result)
				}
			}
			labelled := strings.Replace(tc.obj, `"name":"office"`, `"name":"office","labels":{"a":"b"}`, 1)
			if response, _ := handle(t, cluster{objects: quiet(t), further: further, janeLacks: tc.lacks}.validator(t), request(labelled, tc.obj)); !response.Allowed {
				t.Errorf("a label: %v", response.Result)
			}
		})
	}
}

// If nobody says what the user may, the schedule is accepted with a warning, and nothing else is told.
func TestRightsThatNobodyReviews(t *testing.T) {
	c := cluster{objects: append(quiet(t)[:1], hpa("secret", "apps/v1", "Deployment", "web")), noReviews: errors.New("away")}
	response, result := handle(t, c.validator(t), request(stored, ""))
	if result != "create warned" {
		t.Errorf("%s %v", result, response.Result)
	}
	warns(t, response, []string{"accepted without checking whether you may scale"})
}

// Where nothing is served nothing is scaled, so nobody's rights are reviewed; nor with the check switched off.
func TestRightsThatDoNotMatter(t *testing.T) {
	lacks := []string{"patch deployments.apps/scale", "patch deployments.apps"}
	if response, _ := handle(t, cluster{objects: quiet(t), janeLacks: lacks, namespaces: []string{"back"}}.validator(t), request(stored, "")); !response.Allowed {
		t.Error(response.Result)
	}
	if response, _ := handle(t, cluster{objects: quiet(t), janeLacks: lacks, unchecked: true}.validator(t), request(stored, "")); !response.Allowed {
		t.Error(response.Result)
	}
}

// A Workspace's findings are about Secrets, Pods and volumes that the user may read.
func TestWorkspaceFindingsHideWhatTheUserMayNotRead(t *testing.T) {
	for lacks, object := range map[string]client.Object{
		"get secrets": nil, "get pods": &corev1.Pod{ObjectMeta: named("ws-dev")},
		"get persistentvolumeclaims": &corev1.PersistentVolumeClaim{ObjectMeta: named("ws-dev-home")},
	} {
		var objects []client.Object
		if object != nil {
			objects = []client.Object{object, &corev1.Secret{ObjectMeta: named("store")}}
		}
		for _, janeLacks := range [][]string{nil, {lacks}} {
			response, _ := handle(t, workspaces(t, cluster{}.broken, nil, janeLacks, objects...), request(home, ""))
			if got := len(response.Warnings); got != 1-len(janeLacks) {
				t.Errorf("without %q: %q", janeLacks, response.Warnings)
			}
		}
	}
}
