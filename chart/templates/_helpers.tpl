{{/* Names and labels: a dict of root and component. */}}
{{- define "routines.name" -}}
{{- printf "%s-%s" .root.Release.Name .component | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "routines.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "routines.labels" -}}
{{ include "routines.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* A dict of root and image: a digest counts more than a tag. */}}
{{- define "routines.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* A build's id as a part of a name and as a label, which take less than the id may hold. */}}
{{- define "routines.build" -}}
{{ . | lower | replace "_" "-" | replace "+" "-" | replace "." "-" | trunc 30 | trimSuffix "-" }}
{{- end -}}

{{/* What every pod has; a dict of root, component, and seccomp where it is another. */}}
{{- define "routines.podSpec" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {{ .seccomp | default (dict "type" "RuntimeDefault") | toJson }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "routines.selector" . | nindent 8 }}
{{- end -}}

{{- define "routines.podMetadata" -}}
labels:
  {{- include "routines.labels" . | nindent 2 }}
  {{- if .metrics }}
  routines/metrics: 'true'
  {{- end }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "routines.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Environment: a dict of root, env (a list of maps, a later one counts more) and secrets (keys). */}}
{{- define "routines.env" -}}
{{- $all := dict "NODE_ENV" "production" -}}
{{- range .env }}{{ $all = merge (deepCopy .) $all }}{{ end -}}
{{- range .secrets }}{{ $_ := set $all (printf "%s_FILE" (. | upper | replace "-" "_")) (printf "/run/secrets/routines/%s" .) }}{{ end -}}
{{- range $name, $value := $all }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end -}}

{{/* The volume of the secrets that a process is given: open to its group, and to nobody else. */}}
{{- define "routines.secretVolume" -}}
name: secrets
secret:
  secretName: {{ .root.Values.secrets.existingSecret | quote }}
  defaultMode: 0440
  items:
    {{- range .secrets }}
    - { key: {{ . }}, path: {{ . }} }
    {{- end }}
{{- end -}}

{{/* What API and workers need of the provider runtime: environment, mounts, volumes. */}}
{{- define "routines.runtimeEnv" -}}
{{- if .Values.runtime.enabled -}}
MODEL_RUNTIME_URL: https://{{ include "routines.name" (dict "root" . "component" "runtime") }}:8443
MODEL_RUNTIME_CA_FILE: /etc/routines/runtime/ca.pem
{{- else -}}
{}
{{- end -}}
{{- end -}}
{{- define "routines.runtimeMounts" -}}
{{- if .Values.runtime.enabled }}
- { name: runtime-ca, mountPath: /etc/routines/runtime, readOnly: true }
- { name: providers, mountPath: /etc/routines/providers, readOnly: true }
{{- end }}
{{- end -}}
{{- define "routines.runtimeVolumes" -}}
{{- if .Values.runtime.enabled }}
- name: runtime-ca
  secret:
    secretName: {{ .Values.runtime.existingTlsSecret | quote }}
    items: [{ key: ca.pem, path: ca.pem }]
- name: providers
  configMap: { name: {{ .Values.runtime.providersConfigMap | quote }} }
{{- end }}
{{- end -}}
{{- define "routines.callerSecrets" -}}
{{- $keys := .secrets -}}
{{- if .root.Values.runtime.enabled }}{{ $keys = append $keys "model-runtime-secret" }}{{ end -}}
{{- toJson (uniq $keys) -}}
{{- end -}}

{{/* The container that migrates: of the job, and of a pod that begins with it. */}}
{{- define "routines.migrate" -}}
name: migrations
image: {{ include "routines.image" (dict "root" . "image" .Values.image) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args: [migrations/run.ts]
env: {{- include "routines.env" (dict "root" . "env" (list .Values.env) "secrets" .Values.secrets.migrations) | nindent 2 }}
volumeMounts: [{ name: migration-secrets, mountPath: /run/secrets/routines, readOnly: true }]
resources: {{- toYaml .Values.migrations.resources | nindent 2 }}
securityContext: {{- include "routines.containerSecurity" . | nindent 2 }}
{{- end -}}
{{- define "routines.migrateVolume" -}}
{{ include "routines.secretVolume" (dict "root" . "secrets" .Values.secrets.migrations) | replace "name: secrets" "name: migration-secrets" }}
{{- end -}}
