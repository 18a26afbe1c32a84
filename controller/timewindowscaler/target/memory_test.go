package target

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kyklos.io/kyklos/apis/v1beta1"
)

// What was written to one target says nothing about another, although that may have an older version.
func TestTheSpecNamesAnotherTarget(t *testing.T) {
	web, api := deploymentAt("web", "10"), deploymentAt("api", "5")
	set := &appsv1.StatefulSet{ObjectMeta: *web.ObjectMeta.DeepCopy(), Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](1)}}
	set.UID = "web-set"
	c := &Clients{Client: clientfake.NewClientBuilder().WithObjects(web, api, set).Build()}
	memory := &Memory{}
	read := func(kind, name string) string {
		t.Helper()
		found, err := Read(t.Context(), c, "shop", v1beta1.TargetRef{APIVersion: "apps/v1", Kind: kind, Name: name}, memory, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return string(found.Base().UID) + "@" + found.Base().ResourceVersion
	}
	for _, step := range []struct{ kind, name, want string }{
		{"Deployment", "web", "web@10"}, {"Deployment", "api", "api@5"}, {"Deployment", "web", "web@10"}, {"StatefulSet", "web", "web-set@10"},
	} {
		if got := read(step.kind, step.name); got != step.want {
			t.Errorf("%s %s: got %s, want %s", step.kind, step.name, got, step.want)
		}
		memory.Wrote(&Replicated{Common{UID: types.UID(step.name), ResourceVersion: "100"}}) // which the cache does not have
		if got, want := read(step.kind, step.name), step.name+"@100"; step.kind == "Deployment" && got != want {
			t.Errorf("after a write: got %s, want %s", got, want)
		}
	}
}

func deploymentAt(name, version string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), ResourceVersion: version},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To[int32](1)},
	}
}
