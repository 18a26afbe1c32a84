package node

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// importImages gives containerd the image under test and the pause image, once it answers.
func importImages(ctx context.Context) error {
	pause := filepath.Join(dir, "pause.tar")
	if err := savePause(pause); err != nil {
		return err
	}
	for _, archive := range []string{pause, filepath.Join(binaries, "image", "kyklos-"+runtime.GOARCH+".tar")} {
		if err := until(ctx, time.Minute, func() error {
			ctr := exec.CommandContext(ctx, filepath.Join(binaries, "ctr"), "--address", filepath.Join(dir, "containerd.sock"),
				"--namespace", "k8s.io", "images", "import", archive)
			if output, err := ctr.CombinedOutput(); err != nil {
				return fmt.Errorf("import %s: %w: %s", archive, err, output)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// savePause writes the pause binary as an image in the form of docker save.
func savePause(path string) error {
	binary, err := os.ReadFile(filepath.Join(binaries, "pause"))
	if err != nil {
		return err
	}
	layer, err := archive(map[string][]byte{"pause": binary})
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"os": "linux", "architecture": runtime.GOARCH,
		"config": map[string]any{"Entrypoint": []string{"/pause"}, "User": "65535:65535"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{{"Config": "config.json", "RepoTags": []string{pauseImage}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	image, err := archive(map[string][]byte{"manifest.json": manifest, "config.json": config, "layer.tar": layer})
	if err != nil {
		return err
	}
	return os.WriteFile(path, image, 0o600)
}

func archive(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}
