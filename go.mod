module kyklos.io/kyklos

go 1.26.0

require pgregory.net/rapid v1.3.0

require github.com/google/go-cmp v0.7.0
