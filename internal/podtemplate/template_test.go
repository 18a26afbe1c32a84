package podtemplate_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/podtemplate"
)

func workspace(t *testing.T, spec string) *v1alpha1.WorkspaceSpec {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	ws := &v1alpha1.WorkspaceSpec{Storage: v1alpha1.WorkspaceStorage{MountPath: "/home/coder"}}
	ws.Archive = &v1alpha1.WorkspaceArchive{StoreRef: v1alpha1.StoreRef{Name: "home-archive"}}
	ws.Image, ws.Template = "ide:1", &v1alpha1.PodTemplate{Spec: runtime.RawExtension{Raw: text}}
	return ws
}

// The samples in config/samples/workspaces/invalid have each mistake once. These must be accepted.
func TestAccepted(t *testing.T) {
	for name, spec := range map[string]string{
		"nothing":               `{}`,
		"the default policy":    `restartPolicy: Always`,
		"a token, if asked for": `automountServiceAccountToken: true`,
		"Linux":                 `os: {name: linux}`,
		"a user":                `securityContext: {runAsUser: 2000, runAsGroup: 2000, fsGroup: 2000, supplementalGroups: [44]}`,
		"a group of its own":    `containers: [{name: db, image: a, securityContext: {runAsUser: 70, runAsGroup: 70}}]`,
		"a port below 1024":     `containers: [{name: web, image: a, securityContext: {capabilities: {add: [NET_BIND_SERVICE]}}}]`,
		"a native sidecar":      `initContainers: [{name: log, image: a, restartPolicy: Always, readinessProbe: {exec: {command: [a]}}}]`,
		"a folder of the home":  `containers: [{name: docs, image: a, volumeMounts: [{name: home, mountPath: /docs, subPath: docs/..x}]}]`,
		"a key in the home":     `{containers: [{name: workspace, volumeMounts: [{name: key, mountPath: /home/coder/.ssh/key, subPath: key}]}], volumes: [{name: key, secret: {secretName: key}}]}`,
		"another claim":         `{containers: [{name: a, image: a, volumeMounts: [{name: data, mountPath: /d}]}], volumes: [{name: data, persistentVolumeClaim: {claimName: ws-data}}]}`,
		"a scratch volume":      `volumes: [{name: s, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]`,
		"amounts as numbers":    `containers: [{name: a, image: a, resources: {requests: {cpu: 1}, limits: {cpu: 1.5}}}]`,
		"own processes":         `shareProcessNamespace: false`,
		"the watcher's user":    `{shareProcessNamespace: false, securityContext: {runAsUser: 65532}}`,
		"devices by claims":     `{resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}], containers: [{name: workspace, resources: {claims: [{name: gpu}]}}]}`,
	} {
		if _, errs := podtemplate.Read(workspace(t, spec)); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs.ToAggregate())
		}
	}
}

// What is wrong has a place, also where the samples have none.
func TestPlaces(t *testing.T) {
	for spec, want := range map[string]string{
		`volumes: [{name: s, emptyDir: {sizeLimit: much}}]`:                                                                                                                                     `spec.template.spec.volumes[0].emptyDir.sizeLimit: Invalid value: "much": must be an amount`,
		`containers: [{name: a, image: a, ports: [{containerPort: http}]}]`:                                                                                                                     "spec.template.spec.containers.ports.containerPort: Invalid value: must be a whole number, not a JSON string",
		`volumes: [{name: ben-home, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]`:                                          `spec.template.spec.volumes[0].name: Invalid value: "ben-home": must not end in -home`,
		`volumes: [{name: s, ephemeral: {volumeClaimTemplate: {metadata: {labels: {kyklos.io/workspace: ben}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]`: `spec.template.spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.labels[kyklos.io/workspace]: Forbidden: must be left out`,
		`volumes: [{name: c, csi: {driver: a.example.com, nodePublishSecretRef: {name: home-archive}}}]`:                                                                                        "spec.template.spec.volumes[0].csi.nodePublishSecretRef.name: Forbidden: must not be the Secret of archive.storeRef",
		`imagePullSecrets: [{name: home-archive}]`:                                                                                                                                              "spec.template.spec.imagePullSecrets[0].name: Forbidden: must not be the Secret of archive.storeRef",
		`hostNetwork: "yes"`: "spec.template.spec.hostNetwork: Invalid value: must be true or false",
		`containers: [{name: a, image: a, securityContext: {runAsGroup: 0}}]`:                         "spec.template.spec.containers[0].securityContext.runAsGroup: Invalid value: 0: must be at least 1",
		`containers: [{name: a, image: a, volumeMounts: [{name: home, mountPath: /h, subPath: /a}]}]`: `spec.template.spec.containers[0].volumeMounts[0].subPath: Invalid value: "/a": must be a folder in the home`,
	} {
		_, errs := podtemplate.Read(workspace(t, spec))
		if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), want) {
			t.Errorf("%s: got %v, want %s", spec, errs, want)
		}
	}
}

// W89: what sees the processes of the watcher has another user.
func TestProcesses(t *testing.T) {
	const user, pod = "containers[0].securityContext.runAsUser", "securityContext.runAsUser"
	sidecar := func(policy string) string {
		return `initContainers: [{name: a, image: a, ` + policy + `securityContext: {runAsUser: 65532}}]`
	}
	for name, test := range map[string]struct {
		percent int32
		ports   []int32
		spec    string
		want    string
	}{
		"CPU":                      {5, nil, `securityContext: {runAsUser: 65532}`, pod},
		"CPU of a container":       {5, nil, `containers: [{name: a, image: a, securityContext: {runAsUser: 65532}}]`, user},
		"CPU of a sidecar":         {5, nil, sidecar("restartPolicy: Always, "), "initContainers[0].securityContext.runAsUser"},
		"what ends before":         {5, nil, sidecar(""), ""},
		"shared by the template":   {0, []int32{80}, `{shareProcessNamespace: true, securityContext: {runAsUser: 65532}}`, pod},
		"shared, and no watcher":   {0, nil, `{shareProcessNamespace: true, securityContext: {runAsUser: 65532}}`, ""},
		"not shared":               {0, []int32{80}, `securityContext: {runAsUser: 65532}`, ""},
		"another user":             {5, []int32{80}, `{shareProcessNamespace: true, securityContext: {runAsUser: 65531}}`, ""},
		"CPU of what is not shown": {5, nil, `shareProcessNamespace: false`, "shareProcessNamespace"},
	} {
		ws := workspace(t, test.spec)
		ws.Activity.CPUPercent, ws.Ports = test.percent, test.ports
		_, errs := podtemplate.Read(ws)
		if len(errs) == 0 && test.want == "" {
			continue
		}
		if len(errs) != 1 || errs[0].Field != "spec.template.spec."+test.want {
			t.Errorf("%s: got %v, want one about %q", name, errs, test.want)
		}
	}
}

// A user that is not allowed is nobody: movers run as the default user then.
func TestUser(t *testing.T) {
	for spec, want := range map[string]int64{
		`{}`: 1000, `securityContext: {runAsUser: 7}`: 7, `securityContext: {runAsUser: 0}`: 1000, `securityContext: []`: 1000,
		`{securityContext: {runAsUser: 7}, hostNetwork: true}`: 7,
	} {
		if got := podtemplate.User(workspace(t, spec)); got != want {
			t.Errorf("%s: got %d, want %d", spec, got, want)
		}
	}
	if got := podtemplate.User(&v1alpha1.WorkspaceSpec{}); got != 1000 {
		t.Errorf("without a template: %d", got)
	}
}
