# Kyklos: every verb of the project. `make help` lists them.
SHELL := /bin/sh
.SHELLFLAGS := -euc
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

KUBERNETES_VERSION := v1.37.2
KYKLOS_DIR ?= .devcluster
DEVCLUSTER_LDFLAGS := -s -w $(foreach p,k8s.io/component-base/version k8s.io/client-go/pkg/version,\
	-X $(p).gitVersion=$(KUBERNETES_VERSION) -X $(p).gitMajor=1 -X $(p).gitMinor=37 -X $(p).gitTreeState=clean)
OPTIMISED := GOFLAGS=-buildvcs=false
TOOL := $(OPTIMISED) go tool -modfile=go.tools.mod
NESTED := $(addprefix test/platform/,devcluster bench browser argocd certmanager helm monitoring objectstore restic) cmd/release
NODE_PACKAGES := runc containernetworking-plugins nftables libnftables1 libnftnl11 libmnl0 libjansson4 libxtables12 \
	libedit2 libbsd0 libmd0 libgmp10 libseccomp2
# They begin first, so that nothing waits for the last of them alone.
LONGEST := ./test/chaos ./test/chaos/soak $(addprefix ./test/e2e/,manager scaling install upgrade)
CERTMANAGER_SOURCES := $(wildcard test/platform/certmanager/*.go) test/platform/certmanager/go.mod
DEVCLUSTER_SOURCES := $(shell find test/platform/devcluster -name '*.go' -not -name '*_test.go' -not -path '*/realnode/*') test/platform/devcluster/go.mod
# The older minor versions that Kyklos supports; the newest is that of the devcluster.
OLDER_KUBERNETES := 1.34 1.35 1.36
TEST_VERSIONS := $(addprefix test-version-,$(OLDER_KUBERNETES))
ARGOCD_SOURCES := test/platform/argocd/main.go test/platform/argocd/go.mod

# The controllers whose permissions are a role of their own.
OF_WORKSPACES := $(addprefix controller/,workspace workspaceidle archivegc)

# What an image says it was built from. A folder that is no Git repository has to be told all three.
VERSION ?= $(shell git describe --tags --match 'v*' --always --dirty)
COMMIT ?= $(shell git rev-parse HEAD)
DATE ?= $(shell TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)
ARCHITECTURES ?= amd64 arm64
IMAGE_DIR ?= bin/image
# The same as in the Dockerfile; a test compares them.
RELEASE_ENV := $(OPTIMISED) GOOS=linux GOAMD64=v1 GOARM64=v8.0
RELEASE_FLAGS = -trimpath -ldflags="-s -w -X kyklos.io/kyklos/internal/buildinfo.version=$(VERSION) -X kyklos.io/kyklos/internal/buildinfo.commit=$(COMMIT) -X kyklos.io/kyklos/internal/buildinfo.date=$(DATE)"

PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
RELEASE_DIR ?= bin/release
# What the provenance names as the builder: a URI.
BUILDER ?= pkg:golang/kyklos.io/kyklos\#cmd/release

# Nothing but Go is needed: no C compiler, no zone files of the host.
export CGO_ENABLED := 0
# All programs and tests have the same flags, so that what they have in common is compiled once, and fast: only Go's own
# packages and ours are optimised. See docs/adr/0032.
export GOFLAGS := -buildvcs=false -trimpath '-gcflags=all=-N -l -dwarf=false' -gcflags=std=-dwarf=false -gcflags=kyklos.io/...=-dwarf=false

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: env
env: ## Print what gives a shell the flags of make, for go test: eval "$$(make env)"
	@echo "export CGO_ENABLED=0 GOFLAGS=\"$$GOFLAGS\""

.PHONY: run
run: devcluster ## Bring up a Kubernetes API server with Kyklos and its samples; KYKLOS_DIR=folder for a second one
	@go build -o bin/quickstart ./test/platform/quickstart
	@exec bin/quickstart --dir $(KYKLOS_DIR) # it makes kyklos and bin/versitygw while the control plane starts and runs

.PHONY: build
build: devcluster kyklos ## Build bin/kyklos, bin/devcluster and bin/kubectl

.PHONY: kyklos
kyklos:
	@test -e bin/kyklos || echo "Building bin/kyklos from source. The first time this takes a minute or two ..."
	@go build -o bin/kyklos ./cmd/kyklos
	@for name in kubectl-kyklos kubectl_complete-kyklos; do ln -sf kyklos bin/$$name; done # a plugin of kubectl, and its shell completion

.PHONY: devcluster
devcluster: bin/devcluster ## Build bin/devcluster: etcd, kube-apiserver, controllers and kubectl in one binary
	@ln -sf devcluster bin/kubectl

bin/devcluster: $(DEVCLUSTER_SOURCES)
	@echo "Building bin/devcluster: Kubernetes $(KUBERNETES_VERSION) from source. The first time this takes some minutes ..."
	@cd test/platform/devcluster && go build -ldflags='$(DEVCLUSTER_LDFLAGS)' -o ../../../bin/devcluster .

.PHONY: image
image: ## Build bin/image: the container image, reproducibly and without Docker; see docs/image.md
	@mkdir -p $(IMAGE_DIR)
	@for arch in $(ARCHITECTURES); do $(RELEASE_ENV) GOARCH=$$arch go build $(RELEASE_FLAGS) -o $(IMAGE_DIR)/kyklos-$$arch ./cmd/kyklos; done
	@cd cmd/release && go run . image --version="$(VERSION)" --commit="$(COMMIT)" --date="$(DATE)" --out=$(abspath $(IMAGE_DIR)) \
		$(foreach arch,$(ARCHITECTURES),$(abspath $(IMAGE_DIR))/kyklos-$(arch))

.PHONY: release
release: ## Build bin/release: VERSION=v0.1.0 is needed; KEY=file signs it, REGISTRY=host/path pushes it; see docs/releasing.md
	@[ "$(origin COMMIT)" != file ] || git diff --quiet HEAD || { echo "Commit your changes first, or give COMMIT and DATE."; exit 1; }
	@case "$(VERSION)" in v[0-9]*.[0-9]*.[0-9]*) ;; *) echo "Give a version such as VERSION=v0.1.0."; exit 1;; esac
	@[ -z "$(REGISTRY)" ] || [ -n "$(KEY)" ] || { echo "Only a signed release is pushed: give KEY=file."; exit 1; }
	@rm -rf $(RELEASE_DIR)
	@for platform in $(PLATFORMS); do $(RELEASE_ENV) GOOS=$${platform%/*} GOARCH=$${platform#*/} \
		go build $(RELEASE_FLAGS) -o $(RELEASE_DIR)/binaries/$${platform%/*}-$${platform#*/} ./cmd/kyklos; done
	@cd cmd/release && go run . pack --version="$(VERSION)" --commit="$(COMMIT)" --date="$(DATE)" --registry="$(REGISTRY)" \
		--downloads="$(DOWNLOADS)" --builder="$(BUILDER)" --source=$(CURDIR) --out=$(abspath $(RELEASE_DIR)) \
		$(foreach platform,$(PLATFORMS),$(abspath $(RELEASE_DIR))/binaries/$(subst /,-,$(platform)))
	@[ -z "$(KEY)" ] || (cd cmd/release && go run . sign --dir=$(abspath $(RELEASE_DIR)) --key="$(abspath $(KEY))" --registry="$(REGISTRY)")

.PHONY: release-key
release-key: ## Make a key for releases in KEY=file, with the password in COSIGN_PASSWORD
	@cd cmd/release && go run . key --key="$(abspath $(KEY))"

.PHONY: release-verify
release-verify: ## Verify VERSION in REGISTRY=host/path with the public key in PUBLIC_KEY=file
	@cd cmd/release && go run . verify --version="$(VERSION)" --registry="$(REGISTRY)" --key="$(abspath $(PUBLIC_KEY))" --out="$(abspath $(OUT))"

bin/certmanager: $(CERTMANAGER_SOURCES)
	@cd test/platform/certmanager && go build -ldflags='-s -w' -o ../../../bin/certmanager .

bin/helm: test/platform/helm/go.mod
	@cd test/platform/helm && go build -ldflags='-s -w' -o ../../../bin/helm helm.sh/helm/v4/cmd/helm

# A real S3 store, as files in a folder.
bin/versitygw: test/platform/objectstore/go.mod
	@echo "Building bin/versitygw: an S3 store from source. The first time this takes a minute or two ..."
	@cd test/platform/objectstore && go build -ldflags='-s -w' -o ../../../bin/versitygw github.com/versity/versitygw/cmd/versitygw

# What archives are measured beside. From its module, as nothing but Go is needed; optimised, unlike the others.
bin/restic: test/platform/restic/go.mod
	@cd test/platform/restic && $(OPTIMISED) go build -ldflags='-s -w' -o ../../../bin/restic github.com/restic/restic/cmd/restic

.PHONY: test
test: build bin/certmanager bin/helm bin/versitygw ## Run all tests: unit, property, API server, end to end
	@go test -p 4 -timeout 30m $(LONGEST) $$(go list ./... | grep -v /test/e2e/webhooks) # most packages wait more than they compute
	@$(MAKE) -j 3 test-webhooks test-release test-platform

# Not beside many others: it renews certificates within seconds, which a starved API server does not keep up with.
.PHONY: test-webhooks
test-webhooks: build bin/certmanager
	@go test -timeout 30m ./test/e2e/webhooks

# With -count=1, here and below: go takes a result for still true when only files outside of the module have changed.
.PHONY: test-release
test-release: devcluster bin/helm
	@cd cmd/release && HELM_BIN=$(CURDIR)/bin/helm DEVCLUSTER_BIN=$(CURDIR)/bin/devcluster KYKLOS_BIN=$(CURDIR)/bin/kyklos go test -timeout 20m -count=1 .

.PHONY: test-platform
test-platform: devcluster
	@cd test/platform/devcluster && DEVCLUSTER_BIN=$(CURDIR)/bin/devcluster go test -timeout 15m -count=1 ./kubelet ./hpaoracle ./externalmetrics ./behaviour
	@cd test/platform/monitoring && go test -timeout 15m -count=1 .

bin/argocd: $(ARGOCD_SOURCES)
	@echo "Building bin/argocd: Argo CD from source. The first time this takes some minutes ..."
	@cd test/platform/argocd && go build -ldflags='-s -w' -o ../../../bin/argocd .

.PHONY: test-argocd
test-argocd: build bin/certmanager bin/argocd ## Have a real Argo CD keep Kyklos and what it scales as Git says; needs git: minutes
	@ARGOCD_BIN=$(CURDIR)/bin/argocd go test -timeout 20m -count=1 -parallel 6 ./test/e2e/gitops

.PHONY: test-workspace
test-workspace: build bin/versitygw ## Kill the manager, movers and store of Workspaces around every request: minutes
	@go test -timeout 30m -count=1 -v ./test/chaos -run 'Crashes|Damages|TwoManagers' -crashes all

# What docs/faults.md shows as measured last.
MEASURE = KYKLOS_FAULTS_MEASURED=$(CURDIR)/test/chaos/matrix/testdata/measured.json

.PHONY: test-faults
test-faults: build bin/versitygw ## Let every fault of docs/faults.md last its whole time, and write what is measured into the page: half an hour
	@$(MEASURE) go test -count=1 -timeout 1h ./test/chaos -whole
	@go test -count=1 ./test/chaos/matrix -update

SOAK ?= 5m
SEED ?= 0
OBJECTS ?= 500

.PHONY: soak
soak: build ## Run two managers under random faults for SOAK=5m; SEED repeats a run, OBJECTS is the number of scalers
	@$(MEASURE) go test -count=1 -v -timeout 0 ./test/chaos/soak -run Soak -soak $(SOAK) -seed $(SEED) -objects $(OBJECTS)
	@go test -count=1 ./test/chaos/matrix -update

.PHONY: test-time
test-time: ## Hold the time engine against the oracle everywhere: every zone, every transition to 2037
	@$(OPTIMISED) go test -timeout 2h -count=1 ./internal/timecalc -run 'Oddities|EveryZone' -v -full

.PHONY: test-node
test-node: ## Run the image as real pods, with a kubelet and containerd; needs root and Debian, see docs/image.md
	@if [ "$$(id -u)" != 0 ]; then echo "test-node is skipped: only root can make a node's namespaces"; else $(MAKE) test-node-as-root; fi

.PHONY: test-node-as-root
test-node-as-root: devcluster bin/node/debian
	@$(MAKE) image ARCHITECTURES=$$(go env GOARCH) IMAGE_DIR=bin/node/image VERSION=test-node
	@cd test/platform/devcluster && go build -ldflags='$(DEVCLUSTER_LDFLAGS)' -o ../../../bin/node/realnode ./realnode
	@cd test/platform/node/containerd && go build -ldflags='-s -w' -o ../../../../bin/node/ tool
	@go build -trimpath -ldflags='-s -w' -o bin/node/pause ./test/platform/node/pause
	@go test -c -o bin/node/node.test ./test/platform/node
	@cd test/platform/node && NODE_BINARIES=$(CURDIR)/bin/node NODE_IMAGE_VERSION=test-node sh enter.sh ../../../bin/node/node.test -test.v -test.timeout=20m

# Programs that are no Go modules, or need C: unpacked here, nothing is installed.
bin/node/debian:
	@mkdir -p bin/node/packages
	@cd bin/node/packages && apt-get download -q $(NODE_PACKAGES) || { echo "apt-get finds no packages: run apt-get update"; exit 1; }
	@for package in bin/node/packages/*.deb; do dpkg -x $$package $@.new; done && mv $@.new $@

.PHONY: test-browser
test-browser: kyklos ## Open what kyklos preview draws in a headless Chromium: that of the machine, or Debian's in bin/chromium
	@chromium=$$(command -v chromium || command -v chromium-headless-shell || command -v google-chrome || true); \
	if [ -z "$$chromium" ]; then $(MAKE) bin/chromium; chromium=$(CURDIR)/bin/chromium/chromium; fi; \
	cd test/platform/browser && KYKLOS_BIN=$(CURDIR)/bin/kyklos CHROMIUM_BIN=$$chromium go test -count=1 -timeout 10m .

bin/chromium:
	@mkdir -p bin
	@sh test/platform/browser/chromium.sh $@

.PHONY: test-certmanager
test-certmanager: build bin/certmanager ## Replace leaf and CA again and again under load, with cert-manager and without: a quarter of an hour
	@go test -timeout 40m -count=1 ./test/e2e/webhooks -v -rotations 25

# One after the other: each is a Kubernetes of its own.
bin/kube-apiserver-%: test/platform/versions/v%/go.mod
	@echo "Building the kube-apiserver of Kubernetes $* from source. This takes some minutes ..."
	@version=$$(sed -n 's|^.*k8s.io/kubernetes v\([0-9.]*\).*|\1|p' $<) && cd $(dir $<) && go build \
		-ldflags="-s -w -X k8s.io/component-base/version.gitVersion=v$$version -X k8s.io/component-base/version.gitTreeState=clean" \
		-o $(CURDIR)/$@ k8s.io/kubernetes/cmd/kube-apiserver

.PHONY: test-versions $(TEST_VERSIONS)
test-versions: $(TEST_VERSIONS) ## Run the tests that docs/install.md lists with each older Kubernetes; test-version-1.34 does with one: an hour the first time

$(TEST_VERSIONS): test-version-%: build bin/kube-apiserver-%
	@echo "Testing with the kube-apiserver of Kubernetes $* ..."
	@export KYKLOS_TEST_APISERVER=$(CURDIR)/bin/kube-apiserver-$* KYKLOS_TEST_VERSION=$*; \
	go test -count=1 -timeout 30m ./test/api; \
	go test -count=1 -timeout 30m ./test/docs -run TestSamplesOnAnAPIServer; \
	go test -count=1 -timeout 30m ./test/e2e/manager -run 'TestEveryKindThroughAWindow|TestDaemonSetOfADeletedSchedule'; \
	go test -count=1 -timeout 30m ./test/e2e/lint -run TestBuiltInKinds; \
	go test -count=1 -timeout 30m ./test/e2e/upgrade -run TestUpgradeAndBack

# The parts of the benchmarks, which test/bench/areas.go describes.
BENCH ?= engine storm admission conversion failover lint workspaces archives sizing
RECORD = $(OPTIMISED) KYKLOS_BENCH_FIGURES=$(CURDIR)/$@
# What was measured, but for the page itself.
MEASURED_COMMIT = $(shell git rev-parse --short HEAD)$(shell git diff --quiet HEAD -- . ':!docs/benchmarks.md' ':!test/bench/table/testdata' || echo -changed)

.PHONY: bench
bench: build bin/versitygw bin/restic ## Measure all parts, or BENCH="engine lint", write docs/benchmarks.md, and list what became slower: an hour, on an idle machine
	@$(OPTIMISED) go build -o bin/kyklos ./cmd/kyklos
	@rm -rf bin/bench
	@mkdir -p bin/bench
	@failed=0; $(MAKE) -j1 -k $(addprefix bin/bench/,$(BENCH)) || failed=1; \
	go run ./test/bench/table -kubernetes $(KUBERNETES_VERSION) -commit "$(MEASURED_COMMIT)" . $$(find bin/bench -type f); exit $$failed

# A part that fails keeps what was measured last.
.DELETE_ON_ERROR:

bin/bench/engine:
	@cd test/platform/bench && $(RECORD) go test -count=1 -run AgainstCron .

FLIPS ?= 100,1000,5000,10000

bin/bench/storm:
	@$(RECORD) go test -count=1 -timeout 2h ./test/e2e/storm -flips $(FLIPS) -rounds 40 -resting 0,10000

bin/bench/admission:
	@$(RECORD) go test -count=1 -run '^$$' -bench Create -benchtime 1x -timeout 30m ./test/e2e/latency

bin/bench/conversion:
	@$(RECORD) go test -count=1 -run '^$$' -bench ListVersions -benchtime 1x -timeout 30m ./test/api

bin/bench/failover:
	@$(RECORD) go test -count=1 -run 'Leader' -timeout 30m ./test/chaos

bin/bench/lint:
	@$(RECORD) go test -count=3 -p 1 -run '^$$' -bench ThousandManifests ./cli/lint/apiserver ./cli/lint/ruleset

bin/bench/workspaces:
	@$(RECORD) go test -count=1 -run '^$$' -bench 'PlanCycle|StartStop' -benchtime 1x -timeout 1h ./test/e2e/workspace

# Homes: numbers of small files, kinds, and sizes of one file. One that the disk of TMPDIR has no room for is left out: 20GB needs 40 GB there.
ARCHIVES ?= 20000,source,binaries,holes,300000,20GB

bin/bench/archives:
	@$(RECORD) go test -count=1 -v -run '^$$' -bench AgainstTarGzip -benchtime 1x -timeout 6h ./internal/archive/mover -archives '$(ARCHIVES)'

SIZES ?= 0,100,1000,10000

bin/bench/sizing:
	@$(RECORD) go test -count=1 -run Sizing -timeout 1h ./test/e2e/manager -sizes $(SIZES)

.PHONY: generate
generate: manifests ## Regenerate code and everything else that is generated
	@$(TOOL) controller-gen object paths=./apis/...
	@go generate ./...

.PHONY: manifests
manifests: ## Regenerate CRD, RBAC and webhook manifests from the markers in the code
	@$(TOOL) controller-gen crd:crdVersions=v1 webhook rbac:roleName=kyklos-manager \
		paths=./apis/... paths=./cmd/... paths=./certs/... paths=./manager/... paths=./webhooks/... \
		$(foreach folder,$(filter-out $(OF_WORKSPACES),$(wildcard controller/*)),paths=./$(folder)/...) \
		output:crd:dir=config/crd/bases output:rbac:dir=config/rbac output:webhook:dir=config/webhook
	@$(TOOL) controller-gen rbac:roleName=kyklos-manager-workspaces,fileName=workspaces-role.yaml \
		$(foreach folder,$(OF_WORKSPACES),paths=./$(folder)/...) output:rbac:dir=config/rbac

.PHONY: verify
verify: generate ## Check that generated files, modules and formatting are up to date
	@go mod tidy -diff
	@for module in $(NESTED); do (cd $$module && go mod tidy -diff); done
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "not formatted: $$unformatted"; exit 1; }
	@go vet ./...
	@for module in test/platform/bench test/platform/certmanager cmd/release; do (cd $$module && go vet ./...); done
	@git diff --exit-code || { echo "Generated files differ: run make generate and commit."; exit 1; }
	@untracked=$$(git ls-files --others --exclude-standard); test -z "$$untracked" || { echo "Generated but not committed: $$untracked"; exit 1; }

.PHONY: lint
lint: ## Run the linters, the import arrows of .golangci.yml among them
	@$(TOOL) golangci-lint run ./...
