package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Stored is one object as the API server has stored it.
type Stored struct {
	// Version is the stored API version, without the group.
	Version string
	// Writes is how often it was written, including the creation.
	Writes string
}

// Stored returns the objects of a resource such as kyklos.io/timewindowscalers as etcd has them, by namespace and name. The
// API server's answers are converted. The cluster must have been started with --etcd-gateway.
func (c *Cluster) Stored(ctx context.Context, resource string) (map[string]Stored, error) {
	url, err := os.ReadFile(filepath.Join(c.Dir, "etcd-url"))
	if err != nil {
		return nil, fmt.Errorf("find etcd (was the cluster started with --etcd-gateway?): %w", err)
	}
	prefix := "/registry/" + resource
	body, err := json.Marshal(map[string][]byte{"key": []byte(prefix + "/"), "range_end": []byte(prefix + "0")}) // 0 comes after /
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, string(url)+"/v3/kv/range", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read the store: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		KVs []struct {
			Key, Value []byte
			Version    string
		} `json:"kvs"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read the store: %s: %w", response.Status, err)
	}
	found := map[string]Stored{}
	for _, kv := range answer.KVs {
		var object metav1.TypeMeta
		if err := json.Unmarshal(kv.Value, &object); err != nil {
			return nil, fmt.Errorf("read %s in the store: %w", kv.Key, err)
		}
		name := strings.TrimPrefix(string(kv.Key), prefix+"/")
		found[name] = Stored{Version: object.GroupVersionKind().Version, Writes: kv.Version}
	}
	return found, nil
}
