package workspace

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// W74: the volume's settings change while the home is archived, and not while it is on a volume; the message says what to do.
func TestTheVolumeIsChosenAnew(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	s.Create("/bin/sleep", "100000")
	ws := s.AwaitSettled(fixtures.Running)
	s.leaveFile("mine")
	for field, change := range map[string]string{
		"size": `"size":"1Ki"`, "storageClassName": `"storageClassName":"other"`, "accessMode": `"accessMode":"ReadWriteOncePod"`,
	} {
		ws := &v1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: ws.Namespace, Name: ws.Name}}
		err := s.Client.Patch(t.Context(), ws, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"storage":{`+change+`}}}`)))
		if err == nil || !strings.Contains(err.Error(), "spec.storage."+field) || !strings.Contains(err.Error(), "archive it first, with desiredState PENDING") {
			t.Errorf("%s on a volume: %v", field, err)
		}
	}
	s.Change(`{"desiredState":"PENDING"}`)
	s.AwaitSettled(fixtures.Archived)
	s.Change(`{"desiredState":"RUNNING","storage":{"size":"1Mi","accessMode":"ReadWriteOncePod"}}`)
	s.AwaitSettled(fixtures.Running)
	s.expectFile("mine")
	var claim corev1.PersistentVolumeClaim
	s.Get(ws.Namespace, "ws-"+ws.Name+"-home", &claim)
	if size := claim.Spec.Resources.Requests.Storage().String(); size != "1Mi" || claim.Spec.AccessModes[0] != corev1.ReadWriteOncePod {
		t.Errorf("the volume was made with %s, %v", size, claim.Spec.AccessModes)
	}
}
