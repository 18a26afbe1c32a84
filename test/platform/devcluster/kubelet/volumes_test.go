package kubelet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

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
	h.ended()
	home := filepath.Join(folder, "home", "user")
	got := map[string]string{}
	for _, name := range []string{"file", "all", "mode", "where"} {
		content, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err, h.read("a/0.log"))
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

// A simulated pod waits for its claim's folder, says why, and then finds what it mounts of it.
func TestSimulatedPodsWaitForTheirFolders(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "claim")
	h := newHost(t, "", claim(folder, func(*corev1.PersistentVolumeClaim) {})...)
	h.mount("data", "/data", "home", ofClaim)
	simulated := WithClaims{Runtime: Simulated{}, sources: h.sources}
	status, again, err := simulated.Sync(t.Context(), h.pod, noon)
	if says := condition(t, status, corev1.PodReady).Message; status.Phase != corev1.PodPending || again == 0 || !strings.Contains(says, "subPath home of volume data: ") {
		t.Fatalf("without the folder it is %s, says %q, again in %s: %v", status.Phase, says, again, err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if status, _, err = simulated.Sync(t.Context(), h.pod, noon); err != nil || status.Phase != corev1.PodRunning {
		t.Errorf("with the folder it is %s: %v", status.Phase, err)
	}
	if info, err := os.Stat(filepath.Join(folder, "home")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the subPath is %v: %v; want the volume's mode 0700", info, err)
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
	for line := range strings.Lines(h.read("a/0.log")) {
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
