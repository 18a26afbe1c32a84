# syntax=docker/dockerfile:1
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /kyklos ./cmd/kyklos

# Nothing but the binary: no shell and no zone files, the time zone database is inside it.
FROM scratch
COPY --from=build /kyklos /kyklos
USER 65532:65532
ENTRYPOINT ["/kyklos"]
