package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"sigs.k8s.io/yaml"
)

// The media types by which Helm knows a chart in a registry.
const (
	chartConfigType  = "application/vnd.cncf.helm.config.v1+json"
	chartContentType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// chartVersion is the chart's, which has no leading v.
func (of release) chartVersion() string { return strings.TrimPrefix(of.version, "v") }

// packChart packs the chart as helm package does, with the release's version and its image as the default.
func packChart(of release, folder, imageDigest string) (file, error) {
	var files []file
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && name == "gen" {
			return fs.SkipDir // as .helmignore says
		}
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if content, err = stamp(of, name, content, imageDigest); err != nil {
			return err
		}
		files = append(files, file{name: path.Join("kyklos", name), content: content, mode: 0o644})
		return nil
	})
	if err != nil {
		return file{}, err
	}
	packed, err := tarGzip(files, of.date)
	return file{name: "kyklos-" + of.chartVersion() + ".tgz", content: packed}, err
}

// stamp writes the version and the image into the files of the chart that name them.
func stamp(of release, name string, content []byte, imageDigest string) ([]byte, error) {
	var lines map[string]string
	switch name {
	case "Chart.yaml":
		lines = map[string]string{`version: .*`: "version: " + of.chartVersion(), `appVersion: .*`: "appVersion: " + of.chartVersion()}
		if of.downloads != "" {
			content = append(content, "icon: "+of.downloads+"/"+iconFile+"\n"...)
		}
	case "values.yaml":
		lines = map[string]string{`  tag: latest`: "  tag: " + of.version}
		if of.registry != "" {
			lines[`  repository: kyklos`] = "  repository: " + of.registry + "/" + imageName
			lines[`  digest: ""`] = "  digest: " + imageDigest
		}
	}
	for pattern, line := range lines {
		found := regexp.MustCompile(`(?m)^` + pattern + `$`)
		if n := len(found.FindAll(content, -1)); n != 1 {
			return nil, fmt.Errorf("%s: %d lines are %q, not 1", name, n, pattern)
		}
		content = found.ReplaceAllLiteral(content, []byte(line))
	}
	return content, nil
}

// chartArtifact is the packed chart as helm push stores it. Helm reads the chart's metadata from the configuration.
func chartArtifact(of release, chart file) (v1.Image, error) {
	metadata, err := fileInArchive(chart.content, "kyklos/Chart.yaml")
	if err != nil {
		return nil, err
	}
	config, err := yaml.YAMLToJSON(metadata)
	if err != nil {
		return nil, err
	}
	var said struct{ Description string }
	if err := yaml.Unmarshal(metadata, &said); err != nil {
		return nil, err
	}
	annotations := map[string]string{
		titleAnnotation:                        "kyklos",
		"org.opencontainers.image.description": said.Description,
		"org.opencontainers.image.version":     of.chartVersion(),
		"org.opencontainers.image.revision":    of.commit,
		"org.opencontainers.image.created":     of.date.UTC().Format(time.RFC3339),
	}
	return newArtifact("", blob{mediaType: chartConfigType, content: bytes.TrimSpace(config)},
		[]blob{{mediaType: chartContentType, content: chart.content}}, annotations)
}
