package workspace

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// serverPort is the variable that makes this program a web server: the process in the Workspace of TestWayIn.
const serverPort = "KYKLOS_TEST_SERVER_PORT"

const greeting = "hello from the Workspace"

// serveIfAsked serves instead of running tests.
func serveIfAsked() {
	port := os.Getenv(serverPort)
	if port == "" {
		return
	}
	err := http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, greeting) }))
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// A person with the role edit starts a Workspace, opens it, stops and archives it with the commands. Its Service is there all the time:
// one of somebody else is not touched (W84, W85, W86, W87).
func TestWayIn(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	port := s.createServer()
	person := s.person()

	said, stderr := s.kyklos(person, 0, "start", "-o", "json")
	var started struct{ State, Address string }
	s.Must(json.Unmarshal([]byte(said), &started))
	if want := fmt.Sprintf("ws-home.%s.svc:%d", s.Namespace, port); started.State != fixtures.Running || started.Address != want {
		t.Errorf("started as %s, want the address %s", said, want)
	}
	if !strings.Contains(stderr, "STARTING\n") {
		t.Errorf("the steps are %q", stderr)
	}
	service := s.service("ws-home")
	pod := s.podOf("ws-home")
	if !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(pod.Labels)) || service.Spec.ClusterIP == "" {
		t.Errorf("the Service is %+v, the Pod's labels are %v", service.Spec, pod.Labels)
	}
	s.opens(person, func() {
		if said, _ := s.kyklos(person, 0, "stop"); said != "workspace home is STANDBY\n" {
			t.Errorf("stop says %q", said)
		}
	}, fmt.Sprintf("workspace %[1]s/home was stopped: another kyklos workspace command set spec.desiredState to STANDBY; kyklos workspace open home -n %[1]s starts it again", s.Namespace))
	service = s.mends(service)
	if said, stderr := s.kyklos(person, 0, "archive"); said != "workspace home is ARCHIVED\n" || !strings.Contains(stderr, "ARCHIVING") {
		t.Errorf("archive says %q and %q", said, stderr)
	}
	if said, stderr := s.kyklos(person, 0, "stop"); said != "workspace home is ARCHIVED\n" || !strings.Contains(stderr, "stays so") {
		t.Errorf("stop says %q and %q", said, stderr)
	}
	if got := s.service("ws-home"); got.Spec.ClusterIP != service.Spec.ClusterIP || got.ResourceVersion != service.ResourceVersion || s.Workspace().Status.Address != started.Address {
		t.Errorf("archived, it is %+v, and the address is %q", got, s.Workspace().Status.Address)
	}
	s.refusals(person)

	s.Must(s.Client.Delete(s.Context(), s.Workspace()))
	s.Until("the Service gone with the Workspace", func() bool { return !s.hasService("ws-home") })
}

// mends checks that edits of the Service are undone, and that another Workspace leaves a Service of somebody else alone. It returns the
// mended Service, which has another ClusterIP: that of an ExternalName is given up (W107).
func (s *scenario) mends(service *corev1.Service) (mended *corev1.Service) {
	s.Helper()
	s.Kubectl("", "patch", "service", "ws-home", "-n", s.Namespace, "-p", `{"spec":{"type":"NodePort","selector":{"kyklos.io/role":"other"}}}`)
	s.Until("the Service as it was", func() bool {
		now := s.service("ws-home")
		return now.Spec.Type == corev1.ServiceTypeClusterIP && now.Spec.Selector["kyklos.io/role"] == "workspace" && now.Spec.ClusterIP == service.Spec.ClusterIP
	})
	s.Kubectl("", "patch", "service", "ws-home", "-n", s.Namespace, "-p", `{"metadata":{"ownerReferences":null},"spec":{"internalTrafficPolicy":"Local",`+
		`"sessionAffinity":"ClientIP","trafficDistribution":"PreferClose"}}`)
	s.Until("the Service as it was, and of its Workspace", func() bool {
		now := s.service("ws-home")
		return equality.Semantic.DeepEqual(now.Spec, service.Spec) && metav1.IsControlledBy(now, s.Workspace())
	})
	s.Kubectl("", "patch", "service", "ws-home", "-n", s.Namespace, "-p", `{"spec":{"type":"ExternalName","externalName":"example.com"}}`)
	s.Until("the Service with an address", func() bool {
		now := s.service("ws-home")
		return now.Spec.Type == corev1.ServiceTypeClusterIP && now.Spec.ExternalName == "" && now.Spec.ClusterIP != ""
	})
	mended = s.service("ws-home")
	theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "ws-bob"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	s.Must(s.Client.Create(s.Context(), theirs))
	bob := s.NewWorkspace("bob", "true")
	bob.Spec.DesiredState, bob.Spec.Archive = v1alpha1.DesiredStandby, nil
	s.Must(s.Client.Create(s.Context(), bob))
	says := func(reason string) {
		s.Helper()
		s.Until("ServiceReady with "+reason, func() bool {
			s.Get(s.Namespace, "bob", bob)
			condition := meta.FindStatusCondition(bob.Status.Conditions, v1alpha1.ConditionServiceReady)
			return condition != nil && condition.Reason == reason
		})
	}
	says(v1alpha1.ReasonServiceForeign)
	if got := s.service("ws-bob"); got.ResourceVersion != theirs.ResourceVersion || bob.Status.Address != "" {
		s.Errorf("it was touched: %+v", got)
	}
	s.Must(s.Client.Delete(s.Context(), theirs))
	says(v1alpha1.ReasonServiceReady)
	s.Kubectl("", "patch", "workspace", "bob", "-n", s.Namespace, "--type=merge", "-p", `{"spec":{"ports":[]}}`)
	says(v1alpha1.ReasonNoPorts)
	s.Until("no Service without ports", func() bool { return !s.hasService("ws-bob") })
	return mended
}

// refusals checks the errors of the commands, and their exit codes.
func (s *scenario) refusals(person string) {
	s.Helper()
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{2, []string{"start", "nobody"}, "there is no Workspace " + s.Namespace + "/nobody"},
		{2, []string{"archive", "bob"}, "has no spec.archive"},
		{1, []string{"start", "--timeout=1ms"}, "in time"},
	} {
		if _, stderr := s.kyklos(person, c.code, c.args[0], c.args[1:]...); !strings.Contains(stderr, c.want) {
			s.Errorf("%q says %q, want %q", c.args, stderr, c.want)
		}
	}
	s.AwaitSettled(fixtures.Running) // the command has ended, the operation has not
	s.Change(`{"pause":true}`)
	if _, stderr := s.kyklos(person, 1, "stop"); !strings.Contains(stderr, "spec.pause") {
		s.Errorf("a paused one: %q", stderr)
	}
	s.Change(`{"pause":false}`)
	if said, _ := s.kyklos(person, 0, "stop", "--no-wait"); said != "workspace home is to be STANDBY\n" && said != "workspace home is STANDBY\n" {
		s.Errorf("without a wait: %q", said)
	}
}
