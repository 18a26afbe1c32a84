package kubelet

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Log is what a container has written so far; more may come behind its end.
type Log interface {
	io.ReadSeeker
	io.Closer
}

// logFile is where the container of that folder writes in this run, the first being 0; a kubelet names it so.
func logFile(folder string, run int32) string {
	return filepath.Join(folder, strconv.Itoa(int(run))+".log")
}

// Log opens the run's file.
func (p *Processes) Log(pod *corev1.Pod, container string, run int32) (Log, error) {
	file, err := os.Open(logFile(filepath.Join(p.folder(pod), container), run))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("the log of container " + container + " is not there any more")
	}
	return file, err
}

// simulatedLog is the log of a pod without processes.
const simulatedLog = "This pod is simulated: no process runs, so there is no output.\n"

// said is a log that is over.
type said struct{ *strings.Reader }

func (said) Close() error { return nil }

// Log returns the reason why there is no log.
func (Simulated) Log(*corev1.Pod, string, int32) (Log, error) {
	return said{strings.NewReader(simulatedLog)}, nil
}

// Log asks the pod's own.
func (b ByImage) Log(pod *corev1.Pod, container string, run int32) (Log, error) {
	return b.of(pod).Log(pod, container, run)
}

// copySome sends what there is of the log, and not more than left.
func copySome(w http.ResponseWriter, log io.Reader, left int64) (written int64, err error) {
	written, err = io.Copy(w, io.LimitReader(log, left))
	return written, errors.Join(err, http.NewResponseController(w).Flush())
}

// lastLines moves the log to where its last n lines begin.
func lastLines(log io.ReadSeeker, n int64) error {
	end, err := log.Seek(0, io.SeekEnd)
	if err != nil || n == 0 {
		return err
	}
	block := make([]byte, 4096)
	for at := end; at > 0; {
		part := block[:min(at, int64(len(block)))]
		at -= int64(len(part))
		if _, err := log.Seek(at, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.ReadFull(log, part); err != nil {
			return err
		}
		for i := len(part) - 1; i >= 0; i-- {
			behind := at + int64(i) + 1
			if part[i] != '\n' || behind == end { // the last line's own end begins none
				continue
			}
			if n--; n == 0 {
				_, err := log.Seek(behind, io.SeekStart)
				return err
			}
		}
	}
	_, err = log.Seek(0, io.SeekStart)
	return err
}
