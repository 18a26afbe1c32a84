package main

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Folders of config that make a whole installation: one for each kind of certificates.
const (
	certManager = "default"
	selfManaged = "overlays/self-managed"
)

// A condition of a template.
const (
	ifCertManager = `eq .Values.certificates.mode "cert-manager"`
	ifSelfManaged = `eq .Values.certificates.mode "self-managed"`
)

// namespace is the one that the manifests install to; a chart installs to that of its release.
const namespace = "kyklos-system"

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
priorityClassName: {{ . }}
{{- end }}`},
	{"Deployment", pod("spec", "tolerations"), block("tolerations", "tolerations")},
	{"Deployment", container("args", "+"), `{{- with .Values.namespaces }}
- --namespaces={{ join "," . }}
{{- end }}
{{- range .Values.args }}
- {{ . | quote }}
{{- end }}`},
	{"Deployment", container("env", "GOMEMLIMIT", "value"), `value: {{ .Values.goMemoryLimit | quote }}`},
	{"Deployment", container("image"), `image: {{ include "kyklos.image" . }}`},
	{"Deployment", container("imagePullPolicy"), `{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}`},
	{"Deployment", container("resources"), block("resources", "resources")},
	{"ServiceAccount", []string{"metadata", "annotations"}, block("annotations", "serviceAccount.annotations")},
}

var labels = choice{path: []string{"metadata", "labels", "+"}, text: `{{- include "kyklos.labels" . | nindent 0 }}`}

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
