package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// helpers are an init container that puts a file into the home, a sidecar that writes there while the workspace runs, and one
// that is never ready.
const helpers = `
initContainers:
- name: clone
  image: %[1]s
  command: [/bin/sh, -c, 'test -e /home/coder/file || printf cloned > /home/coder/file; echo start >> /home/coder/starts']
  volumeMounts: [{name: home, mountPath: /home/coder}]
containers:
- name: sidecar
  image: %[1]s
  command: [/bin/sh, -c, 'echo runs > /notes/sidecar; cp /settings/theme /cache/theme; exec sleep 100000']
  volumeMounts: [{name: home, mountPath: /notes, subPath: notes}, {name: cache, mountPath: /cache}, {name: settings, mountPath: /settings}]
- name: late
  image: %[1]s
  command: [/bin/sleep, "100000"]
  readinessProbe: {exec: {command: [/bin/false]}}
volumes:
- name: cache
  emptyDir: {}
- name: settings
  configMap: {name: settings}
`

// W88, W90: an init container puts a file into the home, a sidecar runs beside the workspace, one that is not ready keeps nobody
// waiting, all of them end with the Pod, and what they left in the home is archived and restored.
func TestInitContainersAndSidecars(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	s.Must(s.Client.Create(s.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "settings"}, Data: map[string]string{"theme": "dark"}}))
	text, err := yaml.YAMLToJSON(fmt.Appendf(nil, helpers, harness.HostImage("/bin/sh")))
	s.Must(err)
	ws := s.NewWorkspace(fixtures.WorkspaceName, "/bin/sleep", "100000")
	ws.Spec.Template = &v1alpha1.PodTemplate{
		Metadata: v1alpha1.PodTemplateMetadata{Labels: map[string]string{"team": "search"}}, Spec: runtime.RawExtension{Raw: text},
	}
	s.Must(s.Client.Create(s.Context(), ws))
	s.AwaitSettled(fixtures.Running)
	s.expectFile("cloned")
	s.Until("the sidecar's file", func() bool {
		_, err := os.Stat(filepath.Join(s.Home(), "notes", "sidecar"))
		return err == nil
	})
	pod := s.Pod()
	if len(pod.Spec.Containers) != 3 || pod.Spec.Containers[2].Name != "workspace" || pod.Labels["team"] != "search" {
		t.Errorf("the Pod is %s", harness.Show(pod.Spec))
	}
	s.archiveAndRestore("mine")
	starts, err := os.ReadFile(filepath.Join(s.Home(), "starts"))
	if err != nil || string(starts) != "start\nstart\n" {
		t.Errorf("the init container ran: %q, %v", starts, err)
	}
}

// W89: without webhooks, as here, a template with a mistake is refused by the controller, in the words of the webhook. The
// Workspace goes on as soon as it is corrected.
func TestATemplateWithAMistake(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	ws := s.NewWorkspace(fixtures.WorkspaceName, "/bin/sleep", "100000")
	ws.Spec.Template = &v1alpha1.PodTemplate{Spec: runtime.RawExtension{Raw: []byte(`{"hostNetwork":true}`)}}
	s.Must(s.Client.Create(s.Context(), ws))
	s.Await("refused", func(ws *v1alpha1.Workspace) bool {
		ready := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionReady)
		return ready != nil && strings.Contains(ready.Message, "spec.template.spec.hostNetwork: Forbidden: must not be true")
	})
	s.Change(`{"template":null}`)
	s.AwaitSettled(fixtures.Running)
}
