package kubelet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	conversion "k8s.io/kubernetes/pkg/apis/core/v1"
)

// noContainers is the answer to what needs a container to go into.
const noContainers = "this local cluster runs no containers: a pod is simulated, or processes of this machine; exec, attach and cp are not possible, and port-forward is for processes only"

// serve answers the API server until ctx ends. It does not wait for clients that follow a log.
func (k *Kubelet) serve(ctx context.Context) {
	server := &http.Server{Handler: k.handler(), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(k.listener); ctx.Err() == nil {
		klog.ErrorS(err, "Nobody serves logs any more")
	}
}

// handler answers what an API server asks a kubelet for on behalf of `kubectl logs` and `port-forward`, and rejects
// everything else as impossible. Any client that reaches it may read every log.
func (k *Kubelet) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.serveLog)
	mux.HandleFunc("/portForward/{namespace}/{pod}", k.servePorts)
	for _, path := range []string{"/exec/", "/attach/"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, noContainers, http.StatusBadRequest) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the node of this local cluster serves the logs of containers only", http.StatusNotFound)
	})
	return mux
}

// serveLog answers with the log, or with a sentence that kubectl shows as it is.
func (k *Kubelet) serveLog(w http.ResponseWriter, r *http.Request) {
	name := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("pod")}
	wanted, query := corev1.PodLogOptions{}, r.URL.Query()
	err := conversion.Convert_url_Values_To_v1_PodLogOptions(&query, &wanted, nil)
	if err == nil {
		err = unknown(&wanted)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// Not from the cache: a client that saw the container run on the API server must not get "waiting".
	pod, err := k.client.CoreV1().Pods(name.Namespace).Get(r.Context(), name.Name, metav1.GetOptions{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	container := r.PathValue("container")
	run, err := chosenRun(pod, container, wanted.Previous)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	log, err := k.runtime.Log(pod, container, run)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer log.Close()
	over := func() bool { return !wanted.Follow || k.over(name, pod.UID, container, run) }
	if err := copyLog(r.Context(), w, log, &wanted, over); err != nil && r.Context().Err() == nil {
		klog.ErrorS(err, "Serving a log failed", "pod", name, "container", container)
	}
}

// unknown is what of the options cannot be had of logs that are kept as they are written.
func unknown(wanted *corev1.PodLogOptions) error {
	const why = "this local cluster keeps logs as they are written, "
	switch {
	case wanted.Timestamps:
		return errors.New(why + "without the time of a line: leave out --timestamps")
	case wanted.SinceSeconds != nil || wanted.SinceTime != nil:
		return errors.New(why + "without the time of a line: take --tail instead of --since and --since-time")
	case wanted.Stream != nil && *wanted.Stream != corev1.LogStreamAll:
		return errors.New(why + "stdout and stderr together: ask for the stream All")
	}
	return nil
}

// chosenRun is the number of the run whose log is wanted, the first being 0: the present one, that which ended
// last while the container waits for its next start, or the one before.
func chosenRun(pod *corev1.Pod, container string, previous bool) (run int32, err error) {
	status := statusOf(pod, container)
	if status == nil {
		return 0, fmt.Errorf("container %q in pod %q is not available", container, pod.Name)
	}
	waits, ended := status.State.Waiting, status.LastTerminationState.Terminated != nil
	switch {
	case previous && !ended:
		return 0, fmt.Errorf("previous terminated container %q in pod %q not found", container, pod.Name)
	case waits != nil && !ended:
		return 0, fmt.Errorf("container %q in pod %q is waiting to start: %s", container, pod.Name, waits.Reason)
	case previous && waits == nil:
		return status.RestartCount - 1, nil
	}
	return status.RestartCount, nil
}

func statusOf(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	all := append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...)
	for i := range all {
		if all[i].Name == container {
			return &all[i]
		}
	}
	return nil
}

// over reports whether the run has ended, and so has written everything. A cache that lags behind does not count as an end.
func (k *Kubelet) over(name types.NamespacedName, uid types.UID, container string, run int32) bool {
	pod, err := k.pods.Pods(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) || err == nil && pod.UID != uid {
		return true
	}
	if err != nil {
		return false
	}
	status := statusOf(pod, container)
	if status == nil || status.RestartCount < run {
		return false
	}
	ended := status.State.Terminated != nil || status.State.Waiting != nil && status.LastTerminationState.Terminated != nil
	return ended || status.RestartCount > run
}

// copyLog writes what there is, and what comes until over, and makes sure that the reader has it at once.
func copyLog(ctx context.Context, w http.ResponseWriter, log Log, wanted *corev1.PodLogOptions, over func() bool) error {
	if wanted.TailLines != nil {
		if err := lastLines(log, *wanted.TailLines); err != nil {
			return err
		}
	}
	left := int64(math.MaxInt64)
	if wanted.LimitBytes != nil {
		left = *wanted.LimitBytes
	}
	for {
		last := over() // asked before, or its last lines would be missed
		written, err := copySome(w, log, left)
		if left -= written; err != nil || last || left == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollInterval):
		}
	}
}
