package kubelet

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// patience bounds every wait; it is not an expectation of speed.
const patience = 30 * time.Second

// host drives Processes as a Kubelet does, for one pod whose status it keeps.
type host struct {
	*Processes
	t       *testing.T
	pod     *corev1.Pod
	changed chan struct{}
}

var podName = types.NamespacedName{Namespace: "ns", Name: "pod"}

// newHost has one pod of one container that runs the shell script.
func newHost(t *testing.T, script string, objects ...served) *host {
	t.Helper()
	h := &host{t: t, pod: &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: podName.Namespace, Name: podName.Name, UID: "5e5f27a5"},
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{
			Name: "a", Image: "host://shell", Command: []string{"sh", "-c", script}, TerminationMessagePath: "/dev/termination-log",
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}}
	h.restart(filepath.Join(t.TempDir(), "pods"), objects...)
	return h
}

// restart is another devcluster on the folder.
func (h *host) restart(dir string, objects ...served) {
	h.t.Helper()
	made, err := NewProcesses(serving(h.t, objects), dir)
	if err != nil {
		h.t.Fatal(err)
	}
	if h.Processes != nil {
		h.Processes.Close() // it would have ended with its process, and kills what is left in its folders
	}
	h.Processes, h.changed = made, make(chan struct{}, 1)
	made.Notify(func(types.NamespacedName) {
		select {
		case h.changed <- struct{}{}:
		default:
		}
	})
	h.t.Cleanup(made.Close)
}

// served is an object by its path in the API.
type served struct {
	path   string
	object any
}

// serving is a client of a server that has these objects and no others.
func serving(t *testing.T, objects []served) kubernetes.Interface {
	t.Helper()
	mux := http.NewServeMux()
	for _, one := range objects {
		mux.HandleFunc("GET "+one.path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(one.object)
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// until syncs the pod, whenever it asks for that or reports a change, until it is as wanted.
func (h *host) until(what string, wanted func(corev1.PodStatus) bool) corev1.PodStatus {
	h.t.Helper()
	end := time.After(patience)
	for {
		status, again, err := h.Sync(context.Background(), h.pod, time.Now())
		if err != nil {
			h.t.Fatal(err)
		}
		h.pod.Status = status
		if wanted(status) {
			return status
		}
		h.await(what, again, end)
	}
}

func (h *host) await(what string, again time.Duration, end <-chan time.Time) {
	h.t.Helper()
	var timer <-chan time.Time
	if again > 0 {
		timer = time.After(again)
	}
	select {
	case <-h.changed:
	case <-timer:
	case <-end:
		h.t.Fatalf("not %s: %+v", what, h.pod.Status)
	}
}

func (h *host) ended() corev1.PodStatus {
	h.t.Helper()
	return h.until("ended", func(s corev1.PodStatus) bool { return terminal(s.Phase) })
}

func (h *host) ready() corev1.PodStatus {
	h.t.Helper()
	return h.until("ready", func(s corev1.PodStatus) bool { return len(s.ContainerStatuses) > 0 && s.ContainerStatuses[0].Ready })
}

// stop deletes the pod and returns the status that it ends with.
func (h *host) stop(grace int64) corev1.PodStatus {
	h.t.Helper()
	h.pod.DeletionGracePeriodSeconds = &grace
	for end := time.After(patience); ; {
		status, gone, err := h.Stop(context.Background(), podName, h.pod, time.Now())
		if err != nil {
			h.t.Fatal(err)
		}
		if gone {
			return status
		}
		h.await("stopped", pollInterval, end)
	}
}

func (h *host) file(name string) string { return filepath.Join(h.dir, "ns_pod_5e5f27a5", name) }

func (h *host) read(name string) string {
	h.t.Helper()
	content, err := os.ReadFile(h.file(name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(content)
}

// pid of the container's process; the file is there as soon as the container runs.
func (h *host) pidOf(container string) int {
	h.t.Helper()
	pid, err := strconv.Atoi(h.read(container + ".pid"))
	if err != nil {
		h.t.Fatal(err)
	}
	return pid
}

// exists waits for a file of the pod's.
func (h *host) exists(name string) {
	h.t.Helper()
	for end := time.After(patience); ; h.await("there: "+name, pollInterval, end) {
		if _, err := os.Stat(h.file(name)); err == nil {
			return
		}
	}
}

// marked are the processes of the pod that are not zombies.
func (h *host) marked() (pids []int) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		environment, _ := os.ReadFile(path)
		if folder, ok := marking(environment); ok && h.owns(folder) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func (h *host) write(name string) { h.writeFile("a/work/"+name, "") }

func (h *host) writeFile(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(h.file(name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func end(t *testing.T, status corev1.PodStatus) corev1.ContainerStateTerminated {
	t.Helper()
	if len(status.ContainerStatuses) != 1 || status.ContainerStatuses[0].State.Terminated == nil {
		t.Fatalf("no end in %+v", status)
	}
	return *status.ContainerStatuses[0].State.Terminated
}

func (h *host) container() *corev1.Container { return &h.pod.Spec.Containers[0] }
