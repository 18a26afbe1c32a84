{{- /* kyklos.labels are labels that kustomize does not give: Helm's own and those of the values. */ -}}
{{- define "kyklos.labels" -}}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* kyklos.image is the manager's, by digest if there is one. */ -}}
{{- define "kyklos.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default "latest" }}{{ end }}
{{- end }}
{{- end }}
