module kyklos.io/kyklos/cmd/release

go 1.26.0

require (
	github.com/CycloneDX/cyclonedx-go v0.11.0 // lists of parts (SBOM)
	github.com/google/go-cmp v0.7.0 // tests: differences people can read
	github.com/google/go-containerregistry v0.22.1 // images and artifacts, and the registries they go to; crane
	github.com/in-toto/attestation v1.1.2 // tests: the provenance is an in-toto statement by their own library
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // tests: samples against the JSON schemas
	github.com/sigstore/sigstore v1.10.8 // keys, signatures and DSSE envelopes as cosign has them; 1.11 needs Go 1.27
	google.golang.org/protobuf v1.36.11 // tests: in-toto statements are read as protobuf JSON
	sigs.k8s.io/yaml v1.6.0 // the chart and the definitions
)

require (
	github.com/docker/cli v29.7.2+incompatible // indirect
	github.com/docker/docker-credential-helpers v0.9.3 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/klauspost/compress v1.19.2 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/opencontainers/image-spec v1.1.1 // indirect
	github.com/secure-systems-lab/go-securesystemslib v0.11.0 // indirect
	github.com/sigstore/protobuf-specs v0.5.0 // indirect
	github.com/sirupsen/logrus v1.9.4 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	github.com/youmark/pkcs8 v0.0.0-20240726163527-a2c0da244d78 // indirect
	go.yaml.in/yaml/v2 v2.4.2 // indirect
	golang.org/x/crypto v0.50.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/term v0.42.0 // indirect
	golang.org/x/text v0.36.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20250825161204-c5933d9347a5 // indirect
	gotest.tools/v3 v3.5.2 // indirect
)

tool github.com/google/go-containerregistry/cmd/crane
