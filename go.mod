module kyklos.io/kyklos

go 1.26.0
