package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"time"
)

// program is one binary and the build information in it.
type program struct {
	path, os, arch string
	content        []byte
	info           *buildinfo.BuildInfo
}

func readPrograms(paths []string) (programs []program, err error) {
	for _, path := range paths {
		binary, err := readProgram(path)
		if err != nil {
			return nil, err
		}
		programs = append(programs, binary)
	}
	return programs, nil
}

func readProgram(path string) (program, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	binary := program{path: path, content: content, info: info}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "GOARCH":
			binary.arch = setting.Value
		case setting.Key == "GOOS":
			binary.os = setting.Value
		case setting.Key == "CGO_ENABLED" && setting.Value != "0":
			return program{}, fmt.Errorf("%s: must be built without C, but has CGO_ENABLED=%s", path, setting.Value)
		}
	}
	return binary, nil
}

// base is the name of the program's archive and list of parts, without an extension.
func (p program) base(version string) string {
	return "kyklos-" + version + "-" + p.os + "-" + p.arch
}

// executable is the program's name in its archive.
func (p program) executable() string {
	if p.os == "windows" {
		return "kyklos.exe"
	}
	return "kyklos"
}

// archive is the program's archive for download.
func (p program) archive(of release) (file, error) {
	content := []file{{name: p.executable(), content: p.content, mode: 0o755}}
	if p.os == "windows" {
		packed, err := zipOf(content, of.date)
		return file{name: p.base(of.version) + ".zip", content: packed}, err
	}
	packed, err := tarGzip(content, of.date)
	return file{name: p.base(of.version) + ".tar.gz", content: packed}, err
}

// file is one in an archive or in a release.
type file struct {
	name    string
	content []byte
	mode    int64
}

func tarOf(files []file, date time.Time) ([]byte, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: date}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return archive.Bytes(), err
}

func tarGzip(files []file, date time.Time) ([]byte, error) {
	archive, err := tarOf(files, date)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(archive); err != nil {
		return nil, err
	}
	err = w.Close()
	return packed.Bytes(), err
}

func zipOf(files []file, date time.Time) ([]byte, error) {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, f := range files {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date.UTC()})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return packed.Bytes(), err
}

// fileInArchive returns a file of a tar.gz.
func fileInArchive(packed []byte, name string) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return fileInTar(unzipped, name)
}

func fileInTar(archive io.Reader, name string) ([]byte, error) {
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if header.Name == name {
			return io.ReadAll(r)
		}
	}
}
