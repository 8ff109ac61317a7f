{{- define "bench.name" -}}
{{- if contains "setup-bench" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-setup-bench" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "bench.labels" -}}
app.kubernetes.io/name: setup-bench
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* The release's namespace holds secrets that whoever may create pods in it could read. */}}
{{- define "bench.sandboxNamespace" -}}
{{- $name := .Values.sandboxes.namespace.name | default (printf "%s-sandboxes" .Release.Namespace) }}
{{- if eq $name .Release.Namespace }}
{{- fail (printf "sandboxes.namespace.name: %s is the release's own namespace, whose secrets sandboxes could mount; name another one" $name) }}
{{- end }}
{{- $name }}
{{- end }}

{{- define "bench.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "bench.stateClaim" -}}
{{ .Values.state.existingClaim | default (printf "%s-state" (include "bench.name" .)) }}
{{- end }}

{{/* What `bench` reads, so that `kubectl exec DEPLOYMENT -- bench …` needs no flags. */}}
{{- define "bench.environment" -}}
- { name: BENCH_STATE, value: /state }
- { name: BENCH_ADDRESS, value: {{ required "temporal.address: needed, as host:port" .Values.temporal.address | quote }} }
- { name: BENCH_NAMESPACE, value: {{ .Values.temporal.namespace | quote }} }
- { name: BENCH_DRIVER, value: kubernetes }
- { name: BENCH_WORKERS, value: elsewhere }
- { name: BENCH_KUBE_NAMESPACE, value: {{ include "bench.sandboxNamespace" . }} }
- { name: BENCH_USER_NAMESPACES, value: {{ .Values.sandboxes.userNamespaces | quote }} }
{{- with .Values.sandboxes.image }}
- { name: BENCH_BASE, value: {{ . | quote }} }
{{- end }}
{{- if .Values.sandboxes.podTemplate }}
- { name: BENCH_POD_TEMPLATE, value: /etc/setup-bench/pod/template.yaml }
{{- end }}
{{- if .Values.temporal.tls }}
- { name: BENCH_TEMPORAL_TLS, value: "1" }
{{- end }}
{{- if .Values.temporal.apiKey.existingSecret }}
- name: BENCH_TEMPORAL_API_KEY
  valueFrom:
    secretKeyRef: { name: {{ .Values.temporal.apiKey.existingSecret }}, key: {{ .Values.temporal.apiKey.key }} }
{{- end }}
{{- if .Values.caBundle.existingConfigMap }}
- { name: BENCH_CA_BUNDLE, value: /etc/setup-bench/ca/ca.crt }
- { name: NODE_EXTRA_CA_CERTS, value: /etc/setup-bench/ca/ca.crt }
- { name: GIT_SSL_CAINFO, value: /etc/setup-bench/ca/ca.crt }
{{- end }}
{{- range $name, $value := .Values.environment }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}
