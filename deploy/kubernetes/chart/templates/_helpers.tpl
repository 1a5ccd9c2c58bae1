{{/* NAME-VERSION of the chart, as a label. */}}
{{- define "bot-arena.chart" -}}
{{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* One of our images: list $ NAME. */}}
{{- define "bot-arena.image" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $image := $root.Values.image -}}
{{- with $image.registry }}{{ . }}/{{ end -}}
{{ $image.repository }}/{{ $name }}
{{- with get $image.digests $name }}@{{ . }}{{ else }}:{{ default $root.Chart.AppVersion $image.tag }}{{ end -}}
{{- end }}

{{/* The image of a bot that is a service: list $ BOT. */}}
{{- define "bot-arena.bot-image" -}}
{{- $bot := index . 1 -}}
{{- with $bot.sample }}{{ include "bot-arena.image" (list (index $ 0) (printf "sample-%s" .)) }}{{ else }}{{ $bot.image }}{{ end -}}
{{- end }}

{{/* The bots that referees may dial. */}}
{{- define "bot-arena.bots" -}}
{{- $bots := list -}}
{{- range $name, $bot := .Values.services.bots }}{{ $bots = append $bots (printf "%s:50051" $name) }}{{ end -}}
{{ join "," $bots }}
{{- end }}

{{/* The peers of a NetworkPolicy, of a list of address blocks. */}}
{{- define "bot-arena.peers" -}}
{{- $peers := list -}}
{{- range . }}{{ $peers = append $peers (dict "ipBlock" (dict "cidr" .)) }}{{ end -}}
{{ toJson $peers }}
{{- end }}

{{/* The ports of a NetworkPolicy, of a list of numbers. */}}
{{- define "bot-arena.ports" -}}
{{- $ports := list -}}
{{- range . }}{{ $ports = append $ports (dict "protocol" "TCP" "port" (int .)) }}{{ end -}}
{{ toJson $ports }}
{{- end }}

{{/* The text of kubernetes.toml. */}}
{{- define "bot-arena.settings" -}}
{{- $chart := dict "namespace" .Release.Namespace "referee_image" (include "bot-arena.image" (list . "referee")) "image_pull_policy" .Values.image.pullPolicy "host" (dict "image" (include "bot-arena.image" (list . "host"))) "builder" (dict "image" (include "bot-arena.image" (list . "builder"))) -}}
{{- range $key, $value := merge (deepCopy .Values.games) $chart }}
{{ $key }} = {{ include "bot-arena.toml" $value }}
{{- end }}
{{ end }}

{{/* A value as TOML, on one line. */}}
{{- define "bot-arena.toml" -}}
{{- $parts := list -}}
{{- if kindIs "map" . -}}
{{- range $key, $value := . }}{{ $parts = append $parts (printf "%s = %s" (toJson $key) (include "bot-arena.toml" $value)) }}{{ end -}}
{ {{ join ", " $parts }} }
{{- else if kindIs "slice" . -}}
{{- range . }}{{ $parts = append $parts (include "bot-arena.toml" .) }}{{ end -}}
[{{ join ", " $parts }}]
{{- else -}}
{{ toJson . }}
{{- end -}}
{{- end }}

{{/* Values that do not go together. */}}
{{- define "bot-arena.check" -}}
{{- if and .Values.keda.enabled .Values.hpa.enabled }}{{ fail "keda.enabled and hpa.enabled: expected one of them" }}{{ end -}}
{{- if and (or .Values.keda.enabled .Values.hpa.enabled) (not .Values.services.enabled) }}{{ fail "keda and hpa scale the referees of services: expected services.enabled: true" }}{{ end -}}
{{- if and .Values.openshift .Values.postgres.enabled }}{{ fail "PostgreSQL in the namespace needs a user of its own: expected postgres.enabled: false with openshift: true" }}{{ end -}}
{{- end }}
