{{- define "herald.name" -}}
{{ printf "%s" (default .Release.Name .Values.nameOverride) | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "herald.selector" -}}
app.kubernetes.io/name: herald
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "herald.labels" -}}
{{ include "herald.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "herald.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{/* What cannot work, said before anything is made. */}}
{{- define "herald.check" -}}
{{- with .Values }}
{{- if not .image.repository }}{{ fail "image.repository is missing: set it to where your cluster finds the image that deploy/image/build makes" }}{{ end }}
{{- if not .kafka.brokers }}{{ fail "kafka.brokers is missing: set it to HOST:PORT,… of your brokers" }}{{ end }}
{{- if not .keyRing.existingSecret }}{{ fail "keyRing.existingSecret is missing: make a Secret with a key ring and keep a copy of it; without the key ring, stored secrets cannot be read (docs/operate/kubernetes.md)" }}{{ end }}
{{- if not .admin.existingSecret }}{{ fail "admin.existingSecret is missing: make a Secret with a key of 16 characters or more for the first administrator (docs/operate/kubernetes.md)" }}{{ end }}
{{- if and .artifacts.bucket .artifacts.existingClaim }}{{ fail "artifacts.bucket and artifacts.existingClaim are both set: the bytes of artifacts have one place" }}{{ end }}
{{- if not (or .artifacts.bucket .artifacts.existingClaim) }}{{ fail "artifacts.bucket or artifacts.existingClaim is missing: all API nodes share the bytes of artifacts, in a bucket or in a claim that many nodes can write" }}{{ end }}
{{- if and .artifacts.bucket (not .artifacts.credentialsSecret) }}{{ fail "artifacts.credentialsSecret is missing: a bucket needs a Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" }}{{ end }}
{{- if .autoscaling.enabled }}
{{- if not .autoscaling.prometheusAddress }}{{ fail "autoscaling.prometheusAddress is missing: workers are scaled by herald_backlog_deliveries, which Prometheus has" }}{{ end }}
{{- if lt (int .worker.replicas) 2 }}{{ fail "worker.replicas is the least number of workers: with autoscaling it must be 2 or more" }}{{ end }}
{{- if gt (int .worker.replicas) (int .autoscaling.maxReplicas) }}{{ fail "worker.replicas must not be more than autoscaling.maxReplicas" }}{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The same for every process: no rights, no writable root. */}}
{{- define "herald.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
serviceAccountName: {{ include "herald.name" . }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "herald.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "herald.kafkaArguments" -}}
- --kafka={{ .Values.kafka.brokers }}
- --topic-prefix={{ .Values.kafka.topicPrefix }}
- --key-ring=/etc/herald/key-ring/{{ .Values.keyRing.key }}
{{- if .Values.kafka.configSecret }}
- --config=/etc/herald/config/herald.toml
{{- end }}
{{- end }}

{{- define "herald.sendingArguments" -}}
- --allow-addresses={{ join "," .Values.webhooks.allowAddresses }}
- --allow-http={{ .Values.webhooks.allowHttp }}
{{- end }}

{{- define "herald.artifactArguments" -}}
- --artifacts={{ default "/var/lib/herald-artifacts" .Values.artifacts.bucket }}
{{- with .Values.artifacts.endpoint }}
- --artifacts-endpoint={{ . }}
{{- end }}
{{- with .Values.artifacts.region }}
- --artifacts-region={{ . }}
{{- end }}
{{- end }}

{{- define "herald.environment" -}}
{{- range $name, $value := .env }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end }}

{{- define "herald.mounts" -}}
- {name: key-ring, mountPath: /etc/herald/key-ring, readOnly: true}
{{- if .Values.kafka.configSecret }}
- {name: config, mountPath: /etc/herald/config, readOnly: true}
{{- end }}
{{- end }}

{{- define "herald.volumes" -}}
- name: key-ring
  secret: {secretName: {{ .Values.keyRing.existingSecret }}, defaultMode: 0440}
{{- if .Values.kafka.configSecret }}
- name: config
  secret: {secretName: {{ .Values.kafka.configSecret }}, defaultMode: 0440}
{{- end }}
{{- end }}

{{- define "herald.probes" -}}
startupProbe:  # applying the log can take an hour
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 5
  failureThreshold: 720
livenessProbe:
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 10
  failureThreshold: 6
{{- end }}
