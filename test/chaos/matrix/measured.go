// Package matrix is the table of docs/faults.md: each fault, what Kyklos promises, the tests that hold it to that, and what
// they measured last.
package matrix

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// measurements are what was measured last, by fault and then by what it is.
type measurements map[string]map[string]string

// recordVariable names the file that Record writes. `make test-faults` and `make soak` set it.
const recordVariable = "KYKLOS_FAULTS_MEASURED"

var recording sync.Mutex

// Record keeps a measurement for the page, if `make test-faults` or `make soak` runs the test.
func Record(fault, what string, value any) error {
	path := os.Getenv(recordVariable)
	if path == "" {
		return nil
	}
	recording.Lock()
	defer recording.Unlock()
	known, err := read(path)
	if err != nil {
		return err
	}
	if known[fault] == nil {
		known[fault] = map[string]string{}
	}
	switch v := value.(type) {
	case time.Duration:
		if v >= time.Minute {
			known[fault][what] = v.String()
			break
		}
		known[fault][what] = fmt.Sprintf("%.2f s", v.Seconds())
	case float64:
		known[fault][what] = fmt.Sprintf("%.2f", v)
	default:
		known[fault][what] = fmt.Sprint(v)
	}
	text, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, append(text, '\n'), 0o600))
}

func read(path string) (measurements, error) {
	known := measurements{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	return known, json.Unmarshal(text, &known)
}
