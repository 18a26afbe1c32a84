module kyklos.io/kyklos

go 1.26.0

require (
	filippo.io/age v1.3.2 // archives: encryption for their owners
	github.com/arran4/golang-ical v0.3.4 // kyklos preview -o ics: lines, folding and escapes of RFC 5545
	github.com/aws/aws-sdk-go-v2 v1.47.7 // archives: the S3 library's types, and the signatures of tickets
	github.com/aws/aws-sdk-go-v2/credentials v1.20.15 // archives: keys from a Secret
	github.com/aws/aws-sdk-go-v2/service/s3 v1.114.8 // archives: any S3 store
	github.com/aws/aws-sdk-go-v2/service/sts v1.51.8 // archives: roles of a cloud instead of access keys
	github.com/aws/smithy-go v1.28.8 // archives: the codes of a store's errors
	github.com/cert-manager/cert-manager v1.21.2 // serving certificates: pkg/server/tls
	github.com/evanphx/json-patch/v5 v5.9.11 // lint: applies the patches of the defaulting webhooks
	github.com/go-logr/logr v1.4.4 // controller-runtime's logging interface
	github.com/google/cel-go v0.30.0 // lint: the types of policies' expressions
	github.com/google/go-cmp v0.7.0 // tests: differences people can read
	github.com/google/uuid v1.6.0 // a holder's name in the Lease
	github.com/klauspost/pgzip v1.3.0 // archives: gzip on all cores
	github.com/owenrumney/go-sarif/v3 v3.3.1 // tests: reports read back, and held to the schema of SARIF
	github.com/prometheus/client_golang v1.25.0 // metrics
	github.com/prometheus/client_model v0.6.3 // metrics: the series of a scrape
	github.com/prometheus/procfs v0.22.0 // make bench: what machine this is
	github.com/spf13/cobra v1.10.2 // the command line
	github.com/spf13/pflag v1.0.10 // its flags
	github.com/yuin/gopher-lua v1.1.1 // tests: the scripts for Argo CD, with the interpreter that Argo CD has
	go.yaml.in/yaml/v3 v3.0.5 // manifests: where in a file each field stands
	golang.org/x/image v0.46.0 // pictures of schedules: fonts and a rasteriser for PNG
	golang.org/x/sync v0.24.0 // goroutines that end together, questions asked once
	golang.org/x/sys v0.49.0 // archives: holes, extended attributes, flock
	golang.org/x/term v0.47.0 // colours and progress: is this a terminal
	golang.org/x/text v0.43.0 // lint: how wide characters are; manifests in UTF-16; make bench: commas in numbers
	golang.org/x/time v0.15.0 // certs: a line in the log once a minute
	gomodules.xyz/jsonpatch/v2 v2.5.0 // controller-runtime's type for a webhook's patch
	k8s.io/api v0.37.2
	k8s.io/apiextensions-apiserver v0.37.2 // CustomResourceDefinitions; lint: their validation and CEL
	k8s.io/apimachinery v0.37.2
	k8s.io/apiserver v0.37.2 // lint: what the API server does for every kind; certs: client certificates; tests: its match conditions
	k8s.io/client-go v0.37.2
	k8s.io/klog/v2 v2.140.0 // client-go's log, sent where ours goes
	k8s.io/metrics v0.37.2 // windows' metrics: the types of external.metrics.k8s.io
	k8s.io/pod-security-admission v0.37.2 // spec.template: the rules of the restricted Pod Security Standard
	k8s.io/streaming v0.37.2 // kyklos workspace open: when to forward a port without WebSockets
	k8s.io/utils v0.0.0-20260626114624-be93311217bd // the injected clock
	pgregory.net/rapid v1.3.0 // tests: properties
	sigs.k8s.io/controller-runtime v0.25.2
	sigs.k8s.io/gateway-api v1.6.0 // tests: the routes in docs
	sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730 // spec.template: fields that a Pod does not have, with their paths
	sigs.k8s.io/structured-merge-diff/v6 v6.4.2 // storage migration: sets of managed fields
	sigs.k8s.io/yaml v1.6.0 // tests and make run: manifests rewritten
)

require (
	cel.dev/expr v0.25.2 // indirect
	filippo.io/hpke v0.4.0 // indirect
	github.com/Azure/go-ntlmssp v0.1.1 // indirect
	github.com/antlr4-go/antlr/v4 v4.13.1 // indirect
	github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream v1.7.26 // indirect
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.5.10 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.8.10 // indirect
	github.com/aws/aws-sdk-go-v2/internal/v4a v1.5.10 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding v1.13.24 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/checksum v1.11.11 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/presigned-url v1.14.10 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/s3shared v1.20.10 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/blang/semver/v4 v4.0.0 // indirect
	github.com/cenkalti/backoff/v5 v5.0.3 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.7 // indirect
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/emicklei/go-restful/v3 v3.13.0 // indirect
	github.com/felixge/httpsnoop v1.0.4 // indirect
	github.com/fsnotify/fsnotify v1.9.0 // indirect
	github.com/fxamacker/cbor/v2 v2.9.1 // indirect
	github.com/go-asn1-ber/asn1-ber v1.5.8 // indirect
	github.com/go-ldap/ldap/v3 v3.4.14 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/go-logr/zapr v1.3.0 // indirect
	github.com/go-openapi/jsonpointer v1.0.0 // indirect
	github.com/go-openapi/jsonreference v1.0.0 // indirect
	github.com/go-openapi/swag v0.27.1 // indirect
	github.com/go-openapi/swag/cmdutils v0.27.1 // indirect
	github.com/go-openapi/swag/conv v0.27.1 // indirect
	github.com/go-openapi/swag/fileutils v0.27.1 // indirect
	github.com/go-openapi/swag/jsonutils v0.27.1 // indirect
	github.com/go-openapi/swag/loading v0.27.1 // indirect
	github.com/go-openapi/swag/mangling v0.27.1 // indirect
	github.com/go-openapi/swag/netutils v0.27.1 // indirect
	github.com/go-openapi/swag/pools v0.27.1 // indirect
	github.com/go-openapi/swag/stringutils v0.27.1 // indirect
	github.com/go-openapi/swag/typeutils v0.27.1 // indirect
	github.com/go-openapi/swag/yamlutils v0.27.1 // indirect
	github.com/google/gnostic-models v0.7.1 // indirect
	github.com/gorilla/websocket v1.5.4-0.20250319132907-e064f32e3674 // indirect
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.29.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/kylelemons/godebug v1.1.0 // indirect
	github.com/moby/spdystream v0.5.1 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.3-0.20250322232337-35a7c28c31ee // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	github.com/xeipuuv/gojsonpointer v0.0.0-20180127040702-4e3ac2762d5f // indirect
	github.com/xeipuuv/gojsonreference v0.0.0-20180127040603-bd5ef7bd5415 // indirect
	github.com/xeipuuv/gojsonschema v1.2.0 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp v0.69.0 // indirect
	go.opentelemetry.io/otel v1.45.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlptrace v1.45.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc v1.45.0 // indirect
	go.opentelemetry.io/otel/metric v1.45.0 // indirect
	go.opentelemetry.io/otel/sdk v1.45.0 // indirect
	go.opentelemetry.io/otel/trace v1.45.0 // indirect
	go.opentelemetry.io/proto/otlp v1.11.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.27.1 // indirect
	go.yaml.in/yaml/v2 v2.4.4 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/exp v0.0.0-20260410095643-746e56fc9e2f // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260803160001-6ac0973c030d // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260803160001-6ac0973c030d // indirect
	google.golang.org/grpc v1.83.2 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	gopkg.in/evanphx/json-patch.v4 v4.13.0 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
	k8s.io/component-base v0.37.2 // indirect
	k8s.io/kube-openapi v0.0.0-20260721132016-d427ff9ee9ad // indirect
	sigs.k8s.io/apiserver-network-proxy/konnectivity-client v0.36.0 // indirect
	sigs.k8s.io/randfill v1.0.0 // indirect
)

replace github.com/google/cel-go => github.com/google/cel-go v0.29.2
