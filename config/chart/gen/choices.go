package main

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A condition of a template.
const (
	ifCertManager = `eq .Values.certificates.mode "cert-manager"`
	ifSelfManaged = `eq .Values.certificates.mode "self-managed"`
	ifEverywhere  = `not .Values.namespaces`
	ifMonitoring  = `.Values.monitoring.enabled`
	ifWorkspaces  = `.Values.workspaces.enabled`
	// ifAnywhere: Workspaces are not limited to some namespaces.
	ifAnywhere = `not .Values.workspaces.namespaces`
)

const (
	// namespace is the one that the manifests install to; a chart installs to that of its release.
	namespace = "kyklos-system"
	// served is the one that the namespaced installation serves; a chart serves those of its values.
	served = "shop"
	// homes is the one in which an installation serves Workspaces; a chart serves those of its values.
	homes = "team"
)

// choice lets values decide about one field of the objects of a kind.
type choice struct {
	kind string
	// path leads to the field: keys, and in a list the name of an item. The last one may be new;
	// "+" appends to a list.
	path []string
	// text takes the field's place, its key and all.
	text string
}

// choices are all that values decide, but for certificates.mode. labels belong to every object.
var choices = []choice{
	{"CustomResourceDefinition", []string{"metadata", "annotations", "helm.sh/resource-policy"}, `{{- if .Values.crds.keep }}
helm.sh/resource-policy: keep
{{- end }}`},
	{"Deployment", []string{"spec", "replicas"}, `replicas: {{ .Values.replicas }}`},
	{"Deployment", pod("metadata", "annotations"), block("annotations", "podAnnotations")},
	{"Deployment", pod("metadata", "labels", "+"), `{{- with .Values.podLabels }}
{{- toYaml . | nindent 0 }}
{{- end }}`},
	{"Deployment", pod("spec", "affinity"), block("affinity", "affinity")},
	{"Deployment", pod("spec", "imagePullSecrets"), block("imagePullSecrets", "imagePullSecrets")},
	{"Deployment", pod("spec", "nodeSelector"), block("nodeSelector", "nodeSelector")},
	{"Deployment", pod("spec", "priorityClassName"), `{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}`},
	{"Deployment", pod("spec", "tolerations"), block("tolerations", "tolerations")},
	{"Deployment", container("env", "GOMEMLIMIT", "value"), `value: {{ .Values.goMemoryLimit | quote }}`},
	{"Deployment", container("image"), `image: {{ include "kyklos.image" . }}`},
	{"Deployment", container("imagePullPolicy"), `{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}`},
	{"Deployment", container("resources"), block("resources", "resources")},
	{"ServiceAccount", []string{"metadata", "annotations"}, block("annotations", "serviceAccount.annotations")},
}

// labels are on every object.
var labels = choice{path: []string{"metadata", "labels", "+"}, text: `{{- include "kyklos.labels" . | nindent 0 }}`}

// prometheus is who scrapes, in the bindings for it.
var prometheus = []choice{
	{"", []string{"subjects", "prometheus-k8s", "namespace"}, `namespace: {{ .Values.monitoring.serviceAccount.namespace | quote }}`},
	{"", []string{"subjects", "prometheus-k8s", "name"}, `name: {{ .Values.monitoring.serviceAccount.name | quote }}`},
}

// servedNamespace is each of the values', within a range.
var servedNamespace = choice{path: []string{"metadata", "namespace"}, text: `namespace: {{ . | quote }}`}

// concerns says whether values decide about a field of the object.
func (c choice) concerns(object *unstructured.Unstructured) bool {
	switch c.path[0] + "." + c.path[1] {
	case "subjects.prometheus-k8s":
		subjects, _, _ := unstructured.NestedSlice(object.Object, "subjects") // none is of another type
		return len(subjects) > 0 && subjects[0].(map[string]any)["name"] == c.path[1]
	case "metadata.namespace":
		return object.GetNamespace() == served
	}
	return c.kind == "" || c.kind == object.GetKind()
}

// arguments are the manager's flags after those of the installation for all namespaces: what the one for
// some adds, with the values' namespaces, and what the values add.
func arguments(forSome, withoutWorkspaces, withSomeHomes []string) choice {
	lines := "{{- if .Values.namespaces }}\n"
	for _, flag := range forSome {
		lines += "- " + strings.ReplaceAll(flag, "--namespaces="+served, `--namespaces={{ join "," .Values.namespaces }}`) + "\n"
	}
	lines += "{{- end }}\n{{- if " + ifWorkspaces + " }}\n{{- with .Values.workspaces.namespaces }}\n"
	for _, flag := range withSomeHomes {
		lines += "- " + strings.ReplaceAll(flag, "="+homes, `={{ join "," . }}`) + "\n"
	}
	lines += "{{- end }}\n{{- with .Values.workspaces.archiveEndpoints }}\n- {{ print \"--archive-endpoints=\" (join \",\" .) | quote }}\n"
	lines += "{{- end }}\n{{- else }}\n- " + strings.Join(withoutWorkspaces, "\n- ") + "\n"
	lines += "{{- end }}\n{{- if not .Values.checkRequester }}\n- --check-requester=false\n"
	return choice{"Deployment", container("args", "+"), lines + "{{- end }}\n{{- range .Values.args }}\n- {{ . | quote }}\n{{- end }}"}
}

// wanted says whether a choice drops a whole object; empty is never.
func wanted(object *unstructured.Unstructured) string {
	switch object.GetKind() {
	case "CustomResourceDefinition":
		return ".Values.crds.install"
	case "PriorityClass":
		return `eq .Values.priorityClassName "` + object.GetName() + `"`
	}
	return ""
}

// belongs says whether the chart has the object at all. Helm makes the release's namespace itself: it
// keeps its notes there before it creates anything.
func belongs(object *unstructured.Unstructured) bool { return object.GetKind() != "Namespace" }

func pod(path ...string) []string { return append([]string{"spec", "template"}, path...) }

func container(path ...string) []string {
	return append(pod("spec", "containers", "manager"), path...)
}

// block is a field that is there if its value is.
func block(field, value string) string {
	return "{{- with .Values." + value + " }}\n" + field + ":\n  {{- toYaml . | nindent 2 }}\n{{- end }}"
}
