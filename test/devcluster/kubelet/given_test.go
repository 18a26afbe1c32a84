package kubelet

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func (h *host) container() *corev1.Container { return &h.pod.Spec.Containers[0] }

func secret(data map[string]string) served {
	s := &corev1.Secret{TypeMeta: metav1.TypeMeta{Kind: "Secret", APIVersion: "v1"}, Data: map[string][]byte{}}
	for key, value := range data {
		s.Data[key] = []byte(value)
	}
	return served{"/api/v1/namespaces/ns/secrets/s", s}
}

func configMap(data map[string]string) served {
	return served{"/api/v1/namespaces/ns/configmaps/c", &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}, Data: data}}
}

// claim is bound to a volume that is the folder; a function changes it.
func claim(folder string, change func(*corev1.PersistentVolumeClaim)) []served {
	c := &corev1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{Kind: "PersistentVolumeClaim", APIVersion: "v1"}}
	c.Spec.VolumeName, c.Status.Phase = "v", corev1.ClaimBound
	change(c)
	v := &corev1.PersistentVolume{TypeMeta: metav1.TypeMeta{Kind: "PersistentVolume", APIVersion: "v1"}}
	v.Spec.HostPath = &corev1.HostPathVolumeSource{Path: folder}
	return []served{{"/api/v1/namespaces/ns/persistentvolumeclaims/p", c}, {"/api/v1/persistentvolumes/v", v}}
}

func (h *host) mount(name, path, subPath string, source corev1.VolumeSource) {
	h.pod.Spec.Volumes = append(h.pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
	h.container().VolumeMounts = append(h.container().VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path, SubPath: subPath})
}

var ofClaim = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "p"}}

func TestVolumesAreFolders(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o770); err != nil {
		t.Fatal(err)
	}
	h := newHost(t, `cd /data; echo mine >file; cat /secret/key /config/sub/renamed /self/labels /scratch/no 2>/dev/null >all; stat -c %a /secret/key >mode; pwd >where`,
		append(claim(folder, func(*corev1.PersistentVolumeClaim) {}), secret(map[string]string{"key": "hidden\n"}), configMap(map[string]string{"a": "b\n", "left": "out"}))...)
	h.pod.Labels = map[string]string{"app": "web"}
	h.mount("data", "/data", "home/user", ofClaim)
	h.mount("secret", "/secret", "", corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", DefaultMode: ptr.To[int32](0o440)}})
	h.mount("config", "/config", "", corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Items: []corev1.KeyToPath{{Key: "a", Path: "sub/renamed"}}}})
	h.mount("self", "/self", "", corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}}}}}}}})
	h.mount("scratch", "/scratch", "", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	if status := h.ended(); status.Phase != corev1.PodFailed { // of cat, which finds no /scratch/no
		_ = status
	}
	home := filepath.Join(folder, "home", "user")
	got := map[string]string{}
	for _, name := range []string{"file", "all", "mode", "where"} {
		content, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err, h.read("a.log"))
		}
		got[name] = string(content)
	}
	want := map[string]string{"file": "mine\n", "all": "hidden\nb\napp=\"web\"", "mode": "440\n", "where": home + "\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o770 {
		t.Errorf("the subPath is %v, %v; want the volume's mode 0770", info.Mode(), err)
	}
}

func TestVolumesThatCannotBeMountedHoldThePod(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	mine := func(change func(*corev1.PersistentVolumeClaim)) []served { return claim(folder, change) }
	for name, c := range map[string]struct {
		objects []served
		subPath string
		source  corev1.VolumeSource
		says    string
	}{
		"no claim":       {nil, "", ofClaim, "volume data: "},
		"unbound claim":  {mine(func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimPending }), "", ofClaim, `"p" is not bound`},
		"deleted claim":  {mine(func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{Time: noon} }), "", ofClaim, `"p" is being deleted`},
		"no folder":      {claim(filepath.Join(folder, "none"), func(*corev1.PersistentVolumeClaim) {}), "", ofClaim, "no such file"},
		"no secret":      {nil, "", corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}, "volume data: "},
		"no such volume": {nil, "", corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}, "this node knows"},
		"out of volume":  {mine(func(*corev1.PersistentVolumeClaim) {}), "../x", ofClaim, "subPath ../x of volume data"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, "exit 1", c.objects...)
			h.mount("data", "/data", c.subPath, c.source)
			status, again, err := h.Sync(t.Context(), h.pod, time.Now())
			if err != nil || status.Phase != corev1.PodPending || again == 0 {
				t.Fatalf("phase %s, again in %s: %v; want it to wait", status.Phase, again, err)
			}
			said := condition(t, status, corev1.PodReady).Message
			if waiting := status.ContainerStatuses[0].State.Waiting; waiting == nil || !strings.Contains(said+waiting.Message, c.says) {
				t.Errorf("it says %q and %+v, want %q", said, waiting, c.says)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("OF_DEVCLUSTER", "secret")
	h := newHost(t, "env", secret(map[string]string{"key": "hidden", "other": "x"}), configMap(map[string]string{"A": "1", "B": "2"}))
	key := func(may bool, name string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: name, Optional: &may}}
	}
	h.mount("data", "/data", "", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	h.container().Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Mi")}
	h.container().EnvFrom = []corev1.EnvFromSource{{Prefix: "C_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}}
	h.container().Env = []corev1.EnvVar{
		{Name: "KEY", ValueFrom: key(false, "key")}, {Name: "NONE", ValueFrom: key(true, "none")},
		{Name: "NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
		{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
		{Name: "MEMORY", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory"}}},
		{Name: "BOTH", Value: "$(C_A)$(KEY) $(UNKNOWN) $$(KEY)"}, {Name: "HOME", Value: "/data/$(NAME)"}, {Name: "C_B", Value: "3"},
	}
	if status := h.ended(); status.Phase != corev1.PodSucceeded {
		t.Fatalf("%+v", status)
	}
	got := map[string]string{}
	for line := range strings.Lines(h.read("a.log")) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		got[name] = value
	}
	for _, shells := range []string{"PWD", "SHLVL", "_", "OLDPWD"} {
		delete(got, shells)
	}
	want := map[string]string{
		"PATH": os.Getenv("PATH"), "HOSTNAME": "pod", markVariable: h.file("a"), "C_A": "1", "C_B": "3", "KEY": "hidden", "NAME": "pod", "IP": "127.0.0.1",
		"MEMORY": "2097152", "BOTH": "1hidden $(UNKNOWN) $(KEY)", "HOME": h.file("volumes/data/pod"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestImagesAndCommands(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		image         string
		command, args []string
		says          string // what the log, the end or the wait has
	}{
		"entrypoint":        {"host:///bin/echo", nil, []string{"hello", "$(HOSTNAME)"}, "hello pod\n"},
		"command and args":  {"host:///bin/false", []string{"echo"}, []string{"you"}, "you\n"},
		"no command":        {"host://name", nil, []string{"a"}, "no command specified"},
		"no such command":   {"host://name", []string{"no-such-command"}, nil, "no-such-command"},
		"no such image":     {"host:///no/such", nil, nil, "ImagePullBackOff"},
		"not a program":     {"host://" + plain, nil, nil, "ImagePullBackOff"},
		"a folder":          {"host:///bin", nil, nil, "ImagePullBackOff"},
		"missing variables": {"host://name", []string{"true"}, nil, "CreateContainerConfigError"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, "")
			h.container().Image, h.container().Command, h.container().Args = c.image, c.command, c.args
			if name == "missing variables" {
				h.container().EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}}
			}
			status := h.until("over", func(s corev1.PodStatus) bool {
				return terminal(s.Phase) || s.ContainerStatuses[0].State.Waiting != nil && s.ContainerStatuses[0].State.Waiting.Message != ""
			})
			said, _ := os.ReadFile(h.file("a.log"))
			if end := status.ContainerStatuses[0].State.Terminated; end != nil {
				said = append(said, end.Message...)
			} else {
				said = append(said, status.ContainerStatuses[0].State.Waiting.Reason...)
			}
			if !strings.Contains(string(said), c.says) {
				t.Errorf("it says %q, want %q", said, c.says)
			}
		})
	}
}

func TestMixedImagesAreRefused(t *testing.T) {
	t.Parallel()
	h := newHost(t, "exec sleep 1000")
	h.pod.Spec.Containers = append(h.pod.Spec.Containers, corev1.Container{Name: "b", Image: "nginx"})
	status := h.ready()
	if w := status.ContainerStatuses[1].State.Waiting; w == nil || !strings.Contains(w.Message, "begin with host://") || status.Phase != corev1.PodRunning {
		t.Errorf("the other container waits as %+v", w)
	}
	if condition(t, status, corev1.PodReady).Status != corev1.ConditionFalse {
		t.Error("the pod is ready without it")
	}
}

// Init containers run one after the other and before all others.
func TestInitContainers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		second string
		phase  corev1.PodPhase
		log    string
	}{
		"well":   {"cat /data/1; echo 2 >>/data/1", corev1.PodSucceeded, "1\n2\n"},
		"failed": {"exit 1", corev1.PodFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, "cat /data/1")
			h.mount("data", "/data", "", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
			for i, script := range []string{"echo 1 >/data/1", c.second} {
				initial := *h.container().DeepCopy()
				initial.Name, initial.Command[2] = "init"+strconv.Itoa(i), script
				h.pod.Spec.InitContainers = append(h.pod.Spec.InitContainers, initial)
			}
			if status := h.ended(); status.Phase != c.phase {
				t.Errorf("phase %s, want %s", status.Phase, c.phase)
			}
			if log, _ := os.ReadFile(h.file("a.log")); string(log) != c.log {
				t.Errorf("the container said %q, want %q", log, c.log)
			}
		})
	}
}

func TestDeadlineEndsThePod(t *testing.T) {
	t.Parallel()
	h := newHost(t, "exec sleep 1000")
	h.pod.Spec.ActiveDeadlineSeconds = ptr.To[int64](1000)
	status := h.ready()
	if _, again, _ := h.Sync(t.Context(), h.pod, status.StartTime.Add(999*time.Second)); again != time.Second {
		t.Errorf("1 s before its deadline the pod is looked at again in %s", again)
	}
	late := status.StartTime.Add(1000 * time.Second)
	for end := time.After(patience); !terminal(h.pod.Status.Phase); h.await("ended", look, end) {
		h.pod.Status, _, _ = h.Sync(t.Context(), h.pod, late)
	}
	if got := h.pod.Status; got.Phase != corev1.PodFailed || got.Reason != "DeadlineExceeded" || len(h.marked()) > 0 {
		t.Errorf("it ended as %s, %s, with processes %v", got.Phase, got.Reason, h.marked())
	}
}

// A later devcluster goes on with what the pod's status says.
func TestNodeReturns(t *testing.T) {
	t.Parallel()
	for policy, phase := range map[corev1.RestartPolicy]corev1.PodPhase{corev1.RestartPolicyAlways: corev1.PodRunning, corev1.RestartPolicyNever: corev1.PodFailed} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			h := newHost(t, "exec sleep 1000")
			h.pod.Spec.RestartPolicy = policy
			h.ready()
			h.restart(h.dir)
			status := h.until(string(phase), func(s corev1.PodStatus) bool {
				return s.Phase == phase && (terminal(phase) || s.ContainerStatuses[0].Ready)
			}).ContainerStatuses[0]
			lost := status.State.Terminated
			if policy == corev1.RestartPolicyAlways {
				lost = status.LastTerminationState.Terminated
			}
			if lost == nil || lost.ExitCode != 137 || lost.Reason != "ContainerStatusUnknown" {
				t.Errorf("the process that was lost ended as %+v", lost)
			}
		})
	}
}

// A pod of the same name takes over when its forerunner was deleted by force.
func TestForerunnerEndsFirst(t *testing.T) {
	t.Parallel()
	h := newHost(t, "exec sleep 1000")
	h.ready()
	first := h.pidOf("a")
	h.pod.UID, h.pod.Status = "another", corev1.PodStatus{Phase: corev1.PodPending}
	h.ready()
	for _, pid := range h.marked() {
		if pid == first {
			t.Error("the forerunner still runs")
		}
	}
}

func TestReadinessProbes(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ready" || r.Header.Get("X-Probe") != "yes" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	address, _ := url.Parse(server.URL)
	_, text, _ := net.SplitHostPort(address.Host)
	port, _ := strconv.Atoi(text)
	get := &corev1.HTTPGetAction{Path: "ready", Port: intstr.FromString("web"), Scheme: "HTTP", HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Probe", Value: "yes"}}}
	for name, handler := range map[string]corev1.ProbeHandler{
		"exec":      {Exec: &corev1.ExecAction{Command: []string{"test", "-e", "/data/up"}}},
		"httpGet":   {HTTPGet: get},
		"tcpSocket": {TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(int32(port))}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, "echo >/data/up; exec sleep 1000")
			h.mount("data", "/data", "", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
			h.container().Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: int32(port)}}
			h.container().ReadinessProbe = &corev1.Probe{ProbeHandler: handler, TimeoutSeconds: 10, PeriodSeconds: 1, SuccessThreshold: 1, FailureThreshold: 1}
			h.ready()
		})
	}
	t.Run("fails and recovers", func(t *testing.T) {
		h := newHost(t, "exec sleep 1000")
		h.container().ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-e", "up"}}},
			TimeoutSeconds: 10, PeriodSeconds: 1, SuccessThreshold: 1, FailureThreshold: 1}
		h.until("running", func(s corev1.PodStatus) bool { return s.Phase == corev1.PodRunning && !s.ContainerStatuses[0].Ready })
		h.write("up")
		h.ready()
		if err := os.Remove(h.file("a/work/up")); err != nil {
			t.Fatal(err)
		}
		h.until("unready", func(s corev1.PodStatus) bool { return !s.ContainerStatuses[0].Ready })
	})
}
