package workspace

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// createServer creates a stopped Workspace with a web server, and returns its port.
func (s *scenario) createServer() int {
	s.Helper()
	program, err := os.Executable()
	s.Must(err)
	port, err := harness.FreePort()
	s.Must(err)
	ws := s.NewWorkspace(fixtures.WorkspaceName, program)
	ws.Spec.DesiredState, ws.Spec.Ports = v1alpha1.DesiredStandby, []int32{int32(port)}
	ws.Spec.Env = []v1alpha1.EnvVar{{Name: serverPort, Value: fmt.Sprint(port)}}
	ws.Spec.ReadinessProbe = &v1alpha1.Probe{TCPSocket: &v1alpha1.TCPSocket{Port: int32(port)}, PeriodSeconds: 1, FailureThreshold: 3, TimeoutSeconds: 1}
	s.Must(s.Client.Create(s.Context(), ws))
	s.AwaitSettled(fixtures.Standby)
	return port
}

// person is the kubeconfig of somebody with the role edit in the namespace, and no other.
func (s *scenario) person() string {
	s.Helper()
	s.Kubectl("", "create", "serviceaccount", "person", "-n", s.Namespace)
	s.Kubectl("", "create", "rolebinding", "person", "-n", s.Namespace, "--clusterrole=edit", "--serviceaccount="+s.Namespace+":person")
	token, _ := s.Kubectl("", "create", "token", "person", "-n", s.Namespace)
	content, err := os.ReadFile(s.Cluster.Kubeconfig)
	s.Must(err)
	file := filepath.Join(s.TempDir(), "kubeconfig")
	s.Must(os.WriteFile(file, content, 0o600))
	s.Kubectl("", "config", "set-credentials", "person", "--token="+strings.TrimSpace(token), "--kubeconfig="+file)
	s.Kubectl("", "config", "set-context", "--current", "--user=person", "--namespace="+s.Namespace, "--kubeconfig="+file)
	return file
}

// command is kyklos workspace VERB for the test's Workspace.
func (s *scenario) command(ctx context.Context, kubeconfig, verb string, more ...string) *exec.Cmd {
	s.Helper()
	kyklos, err := harness.Binary("kyklos")
	s.Must(err)
	name := fixtures.WorkspaceName
	if len(more) > 0 && !strings.HasPrefix(more[0], "-") {
		name, more = more[0], more[1:]
	}
	return exec.CommandContext(ctx, kyklos, append([]string{"workspace", verb, name, "--kubeconfig", kubeconfig}, more...)...)
}

// kyklos runs a command to its end, which is to have the exit code.
func (s *scenario) kyklos(kubeconfig string, code int, verb string, more ...string) (stdout, stderr string) {
	s.Helper()
	var said, progress strings.Builder
	command := s.command(s.Context(), kubeconfig, verb, more...)
	command.Stdout, command.Stderr = &said, &progress
	err := command.Run()
	if command.ProcessState == nil || command.ProcessState.ExitCode() != code {
		s.Fatalf("%s %q: %v, want the exit code %d\n%s", verb, more, err, code, progress.String())
	}
	return said.String(), progress.String()
}

// opens reads a page of the Workspace through the port that open forwards, and lets stop stop it. Then open ends, and says what happened
// (W108).
func (s *scenario) opens(kubeconfig string, stop func(), says string) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	open := s.command(ctx, kubeconfig, "open", "--print")
	var progress strings.Builder
	open.Stderr = &progress
	stdout, err := open.StdoutPipe()
	s.Must(err)
	s.Must(open.Start())
	ended := false
	defer func() {
		if cancel(); !ended {
			_ = open.Wait()
		}
	}()
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		cancel()
		ended = true
		_ = open.Wait()
		s.Fatalf("open says %q: %v\n%s", url, err, progress.String())
	}
	for range 2 { // the port is forwarded for more than one connection
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(strings.TrimSpace(url))
		s.Must(err)
		page, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || string(page) != greeting {
			s.Errorf("%s answers %q: %v", url, page, err)
		}
	}
	stop()
	ended = true
	_ = open.Wait()
	if code, said := open.ProcessState.ExitCode(), progress.String(); code != 1 || !strings.Contains(said, says) || strings.Contains(said, "portforward.go") {
		s.Errorf("open ends with the exit code %d, and says\n%s\nwant 1, and %s", code, said, says)
	}
}

func (s *scenario) service(name string) *corev1.Service {
	s.Helper()
	var service corev1.Service
	s.Get(s.Namespace, name, &service)
	return &service
}

func (s *scenario) hasService(name string) bool {
	s.Helper()
	var list corev1.ServiceList
	s.List(s.Namespace, &list)
	for i := range list.Items {
		if list.Items[i].Name == name {
			return true
		}
	}
	return false
}

func (s *scenario) podOf(name string) *corev1.Pod {
	s.Helper()
	var pod corev1.Pod
	s.Get(s.Namespace, name, &pod)
	return &pod
}
