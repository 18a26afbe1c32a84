# The same binary and the same image as `make image`, for those who build with Docker, Podman or buildah:
#   docker build --build-arg VERSION=v1.2.3 --build-arg COMMIT=$(git rev-parse HEAD) --build-arg DATE=... .
# No digest pins the base: the same Go release gives the same bytes in every base, and docs/image.md says
# how to compare them.
ARG GO_IMAGE=docker.io/library/golang:1.26.8
FROM ${GO_IMAGE} AS build
# Set by the builder; the binary is cross-compiled, so the first stage never needs emulation.
ARG TARGETARCH=amd64
ARG VERSION=
ARG COMMIT=
ARG DATE=
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=linux GOARCH=${TARGETARCH} GOAMD64=v1 GOARM64=v8.0 GOFLAGS=-buildvcs=false \
    go build -trimpath -ldflags="-s -w -X kyklos.io/kyklos/internal/buildinfo.version=${VERSION} -X kyklos.io/kyklos/internal/buildinfo.commit=${COMMIT} -X kyklos.io/kyklos/internal/buildinfo.date=${DATE}" \
    -o /kyklos ./cmd/kyklos

# Nothing but the binary: no shell and no zone files, the time zone database is inside it.
FROM scratch
COPY --from=build /kyklos /kyklos
USER 65532:65532
ENTRYPOINT ["/kyklos"]
