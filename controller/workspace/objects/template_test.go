package objects_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// withTemplate gives the Workspace a template, as YAML.
func withTemplate(ws *v1alpha1.Workspace, spec string) *v1alpha1.Workspace {
	text, err := yaml.YAMLToJSON([]byte(spec))
	if err != nil {
		panic(err)
	}
	ws.Spec.Template = &v1alpha1.PodTemplate{Spec: runtime.RawExtension{Raw: text}}
	return ws
}

// TestTemplate shows what becomes of a template: in the Pod, and in a mover.
func TestTemplate(t *testing.T) {
	ws := withTemplate(ann(), `
securityContext: {runAsUser: 2000, fsGroup: 3000, supplementalGroups: [4000]}
runtimeClassName: gvisor
nodeSelector: {disk: fast}
tolerations: [{key: ide, operator: Exists}]
imagePullSecrets: [{name: registry}, {name: other}]
affinity:
  nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}
  podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, labelSelector: {matchLabels: {a: b}}}]}
initContainers:
- name: clone
  image: git:1
  volumeMounts: [{name: home, mountPath: /home/coder}]
containers:
- name: database
  image: postgres:17
  resources: {limits: {example.com/disk: 1}}
  volumeMounts: [{name: home, mountPath: /data, subPath: data}, {name: cache, mountPath: /cache}]
- name: workspace
  ports: [{name: http, containerPort: 8080}, {name: debug, containerPort: 9229}]
  env: [{name: A, value: a}]
  volumeMounts: [{name: cache, mountPath: /cache}]
volumes: [{name: cache, emptyDir: {}}]
`)
	ws.Spec.Template.Metadata = v1alpha1.PodTemplateMetadata{Labels: map[string]string{"team": "search"}, Annotations: map[string]string{"note": "x"}}
	ws.Spec.NodeSelector = map[string]v1alpha1.LabelValue{"zone": "a"}
	ws.Spec.ImagePullSecrets = []v1alpha1.SecretRef{{Name: "registry"}}
	ws.Spec.Env = []v1alpha1.EnvVar{{Name: "B", Value: "b"}}
	pod, err := objects.Pod(ws, action(lifecycle.ActCreatePod))
	golden(t, "template-pod", pod, err)
	golden(t, "template-archive-job", objects.Job(ws, action(lifecycle.ActCreateJob), move(lifecycle.Archiving)), nil)
}

// W90: a template with mistakes, which is older than the rules or was written while the webhooks were away, makes no Pod, and
// its home is archived all the same, by an ordinary user.
func TestABrokenTemplateKeepsNoHome(t *testing.T) {
	for spec, want := range map[string]string{
		`hostNetwork: true`:                                "spec.template.spec.hostNetwork: Forbidden",
		`containers: {a: b}`:                               "spec.template.spec.containers: Invalid value: must be a list",
		`{securityContext: {runAsUser: 0}, nodeName: a}`:   "spec.template.spec.securityContext.runAsUser: Forbidden",
		`{containers: [{name: a, imagee: b, image: b}]}`:   "spec.template.spec.containers[0].imagee: Invalid value: unknown field",
		`{containers: [{name: workspace, image: b}]}`:      "spec.template.spec.containers[0].image: Forbidden",
		`securityContext: {seccompProfile: {type: Bogus}}`: "spec.template.spec.securityContext.seccompProfile: Forbidden",
	} {
		ws := withTemplate(ann(), spec)
		if _, err := objects.Pod(ws, action(lifecycle.ActCreatePod)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", spec, err, want)
		}
		job := objects.Job(ws, action(lifecycle.ActCreateJob), move(lifecycle.Archiving))
		if user := *job.Spec.Template.Spec.SecurityContext.RunAsUser; user != 1000 {
			t.Errorf("%s: the mover is user %d", spec, user)
		}
	}
}

// What a Pod, a container and either's security can have, first what is allowed.
var (
	podParts = []string{
		"automountServiceAccountToken: true", "volumes: [{name: v, emptyDir: {}}]", "hostUsers: false", "serviceAccountName: a", "runtimeClassName: kata", "schedulerName: s",
		"affinity: {nodeAffinity: {}}", "restartPolicy: Always",
	}
	badPodParts = []string{
		"hostNetwork: true", "hostPID: true", "hostIPC: true", "os: {name: windows}", "restartPolicy: Never", "nodeName: n", "volumes: [{name: v, hostPath: {path: /}}]",
		"volumes: [{name: v, nfs: {server: a, path: /}}]", "volumes: [{name: v, secret: {secretName: store}}]",
		"volumes: [{name: v, persistentVolumeClaim: {claimName: ws-ann-home}}]", "terminationGracePeriodSeconds: 0",
	}
	containerParts = []string{
		"volumeMounts: [{name: home, mountPath: /h, subPath: a}]", "volumeMounts: [{name: home, mountPath: /h}]", "workingDir: /h", "tty: true",
	}
	badContainerParts = []string{
		"livenessProbe: {tcpSocket: {port: 1, host: a}}", "ports: [{containerPort: 1, hostPort: 1}]", "volumeMounts: [{name: home, mountPath: /h, subPath: ../a}]",
		"volumeMounts: [{name: v, mountPath: /v}]", "envFrom: [{secretRef: {name: store}}]", "restartPolicy: Always",
	}
	security    = []string{"seccompProfile: {type: RuntimeDefault}", "runAsNonRoot: true", "appArmorProfile: {type: RuntimeDefault}"}
	badSecurity = []string{
		"runAsUser: 0", "runAsGroup: 0", "runAsNonRoot: false", "seccompProfile: {type: Unconfined}", "seLinuxOptions: {type: spc_t}", "appArmorProfile: {type: Unconfined}",
		"windowsOptions: {hostProcess: true}",
	}
	podSecurity          = append([]string{"runAsUser: 7", "runAsGroup: 7", "fsGroup: 8", "supplementalGroups: [9]"}, security...)
	badPodSecurity       = append([]string{"fsGroup: 0", "supplementalGroups: [0]", "sysctls: [{name: kernel.msgmax, value: a}]"}, badSecurity...)
	containerSecurity    = append([]string{"capabilities: {add: [NET_BIND_SERVICE]}", "readOnlyRootFilesystem: true"}, security...)
	badContainerSecurity = append([]string{
		"privileged: true", "allowPrivilegeEscalation: true", "procMount: Unmasked", "capabilities: {add: [SYS_ADMIN]}", "capabilities: {drop: [KILL]}",
	}, badSecurity...)
)

// templates draws any mixture of what is allowed and, half of the time, what is not.
func templates(t *rapid.T) map[string]any {
	wild := rapid.Bool().Draw(t, "wild")
	parts := func(label string, good, bad []string) map[string]any {
		choices := slices.Clone(good)
		if wild {
			choices = append(choices, bad...)
		}
		all := map[string]any{}
		for _, text := range rapid.SliceOfNDistinct(rapid.SampledFrom(choices), 0, 3, rapid.ID[string]).Draw(t, label) {
			if err := yaml.Unmarshal([]byte(text), &all); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	container := func(name string) map[string]any {
		c := parts(name, containerParts, badContainerParts)
		c["name"], c["securityContext"] = name, parts(name+"'s security", containerSecurity, badContainerSecurity)
		if name != "workspace" {
			c["image"] = "a"
		}
		return c
	}
	spec := parts("pod", podParts, badPodParts)
	spec["securityContext"] = parts("the pod's security", podSecurity, badPodSecurity)
	spec["containers"], spec["initContainers"] = []any{container("workspace"), container("sidecar")}, []any{container("init")}
	return spec
}

// W88, W89: whatever a template says, it is refused or its Pod is restricted, has the home in its folder, and has the mover of
// the home as the same user in the same places.
func TestAnyTemplateIsRefusedOrRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		ws := ann()
		ws.Spec.Archive = &v1alpha1.WorkspaceArchive{StoreRef: v1alpha1.StoreRef{Name: "store"}}
		text, err := json.Marshal(templates(t))
		if err != nil {
			t.Fatal(err)
		}
		ws.Spec.Template = &v1alpha1.PodTemplate{Spec: runtime.RawExtension{Raw: text}}
		mover := objects.Job(ws, action(lifecycle.ActCreateJob), move(lifecycle.Archiving)).Spec.Template
		if result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &mover.ObjectMeta, &mover.Spec)); !result.Allowed {
			t.Errorf("the mover: %s", result.ForbiddenDetail())
		}
		pod, err := objects.Pod(ws, action(lifecycle.ActCreatePod))
		if err != nil {
			return
		}
		accepted++
		if result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec)); !result.Allowed {
			t.Errorf("%s: %s", text, result.ForbiddenDetail())
		}
		if strings.Contains(string(text), `"store"`) {
			t.Errorf("%s: the store's Secret is in the Pod", text)
		}
		expectOneHome(t, pod)
		if !reflect.DeepEqual(mover.Spec.SecurityContext, pod.Spec.SecurityContext) || mover.Spec.SchedulerName != pod.Spec.SchedulerName ||
			!reflect.DeepEqual(mover.Spec.RuntimeClassName, pod.Spec.RuntimeClassName) || !reflect.DeepEqual(mover.Spec.Affinity, pod.Spec.Affinity) {
			t.Errorf("%s: the mover is another user, or elsewhere", text)
		}
	})
	if accepted == 0 {
		t.Error("no template was accepted")
	}
}

// expectOneHome expects the home in its folder wherever it is mounted, in the workspace's own container too, and a Pod that only
// Kyklos ends.
func expectOneHome(t *rapid.T, pod *corev1.Pod) {
	claims := 0
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			claims++
		}
	}
	own := 0
	for _, c := range append(slices.Clone(pod.Spec.InitContainers), pod.Spec.Containers...) {
		for _, mount := range c.VolumeMounts {
			if mount.Name != "home" {
				continue
			}
			if mount.SubPath != "home" && !strings.HasPrefix(mount.SubPath, "home/") {
				t.Errorf("%s sees %q of the home's volume", c.Name, mount.SubPath)
			}
			if c.Name == "workspace" && mount.MountPath == "/home/coder" {
				own++
			}
		}
	}
	spec := pod.Spec
	if claims != 1 || own != 1 || spec.RestartPolicy != corev1.RestartPolicyAlways || spec.NodeName != "" || *spec.TerminationGracePeriodSeconds != 30 {
		t.Errorf("%d claims, %d mounts of the home: %+v", claims, own, spec)
	}
}
