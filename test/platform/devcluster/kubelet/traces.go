package kubelet

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// What a kubelet takes of a container's termination message, and of its log in place of one
// (k8s.io/kubernetes/pkg/kubelet/container, MaxContainerTerminationMessage*).
const (
	maxMessage      = 4096
	maxMessageLog   = 2048
	maxMessageLines = 80
)

// terminationMessage is what the container left in its termination file, or the end of its log.
func terminationMessage(c command, code int32) string {
	if text := tail(c.termination, maxMessage); text != "" || !c.fallback || code == 0 {
		return text
	}
	lines := strings.SplitAfter(tail(c.log(), maxMessageLog), "\n")
	return strings.Join(lines[max(0, len(lines)-maxMessageLines-1):], "")
}

// tail is the file's end, valid UTF-8 as the API wants it, or nothing.
func tail(path string, size int64) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > size {
		_, _ = file.Seek(-size, io.SeekEnd)
	}
	content, _ := io.ReadAll(io.LimitReader(file, size))
	return strings.ToValidUTF8(string(content), "?")
}

// killMarked kills every process whose container's folder is one of those.
func killMarked(ours func(folder string) bool) {
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return
	}
	for _, path := range all {
		environment, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended, or belongs to another user
		}
		folder, marked := marking(environment)
		if !marked || !ours(folder) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func marking(environment []byte) (folder string, marked bool) {
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if value, ok := bytes.CutPrefix(variable, []byte(markVariable+"=")); ok {
			return string(value), true
		}
	}
	return "", false
}

// containerID distinguishes containers, also those of one name; a real one names the runtime as well.
func containerID(folder string) string {
	return "devcluster://" + filepath.Base(filepath.Dir(folder)) + "/" + filepath.Base(folder)
}

// removeAll also removes folders that a container made unreadable to their owner.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, os.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(path, func(path string, entry os.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
