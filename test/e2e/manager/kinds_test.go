package manager

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// scheduleOf has 3 replicas on weekdays from 09:00 to 17:00 UTC, else none.
const scheduleOf = `{apiVersion: kyklos.io/%s, kind: TimeWindowScaler, metadata: {name: %s}, spec: {timezone: UTC, defaultReplicas: 0,
  targetRef: {apiVersion: %s, kind: %s, name: %[2]s}, windows: [{days: [Mon, Tue, Wed, Thu, Fri], start: "09:00", end: "17:00", replicas: 3}]}}
---
`

// scheduled is a target and its schedule of the same name, applied in a version.
type scheduled struct {
	kind          fixtures.TargetKind
	version, name string
}

// widgetsAllowed installs the kind Widget and waits until the manager may scale it.
func (s *scenario) widgetsAllowed() {
	s.Helper()
	s.Must(s.Cluster.Apply(s.Context(), fixtures.WidgetManifests))
	s.Eventually("permission for widgets", func() error {
		_, _, err := s.Cluster.Kubectl(s.Context(), "", "auth", "can-i", "patch", "widgets.widgets.example.com", "--subresource=scale", "--as="+harness.ManagerUser, "-n", s.Namespace)
		return err
	})
}

// schedule returns a schedule as a client of a version sees it.
func (s *scenario) schedule(version, name string) *unstructured.Unstructured {
	s.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "kyklos.io/" + version, "kind": "TimeWindowScaler"}}
	s.Must(s.Client.Get(s.Context(), client.ObjectKey{Namespace: s.Namespace, Name: name}, object))
	return object
}

// A target of each kind follows its schedule into a window and out of it. The schedules are applied server-side in v1beta1,
// and one of a Deployment in v1alpha1. Both versions show the same status, and applying the same again is no change.
func TestEveryKindThroughAWindow(t *testing.T) {
	s := newScenario(t)
	s.widgetsAllowed()
	s.SetClock("2025-01-27 08:59:00")
	s.AwaitReady(s.Start(nil, "--leader-elect=false", "--namespaces="+s.Namespace))
	all := []scheduled{{fixtures.Deployments, "v1alpha1", "older"}}
	for _, kind := range fixtures.TargetKinds {
		all = append(all, scheduled{kind, "v1beta1", kind.Resource})
	}
	manifest := ""
	for _, x := range all {
		s.Must(s.Client.Create(t.Context(), x.kind.New(s.Named(x.name), 0)))
		manifest += fmt.Sprintf(scheduleOf, x.version, x.name, x.kind.APIVersion, x.kind.Name)
	}
	apply := func() { s.Kubectl(manifest, "apply", "--server-side", "-n", s.Namespace, "-f", "-") }
	apply()
	for _, at := range []struct {
		clock    string
		replicas int32
	}{{"2025-01-27 08:59:00", 0}, {"2025-01-27 09:00:00", 3}, {"2025-01-27 17:00:00", 0}} {
		s.SetClock(at.clock)
		for _, x := range all {
			s.AwaitCount(x.kind, x.name, at.replicas)
		}
		apply()
	}
	for _, x := range all {
		s.Until("the same status of "+x.name+" in both versions", func() bool {
			newer, older := s.schedule("v1beta1", x.name).Object["status"], s.schedule("v1alpha1", x.name).Object["status"]
			return newer != nil && harness.Show(newer) == harness.Show(older)
		})
		if generation := s.schedule("v1beta1", x.name).GetGeneration(); generation != 1 {
			t.Errorf("%s: applying the same again changed the spec: generation %d", x.name, generation)
		}
	}
}
