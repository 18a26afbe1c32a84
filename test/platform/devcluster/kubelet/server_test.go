package kubelet

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
)

// The last lines are those that a split of the whole text finds, whatever the last one ends with.
func TestLastLines(t *testing.T) {
	line := rapid.StringOfN(rapid.SampledFrom([]rune("ab")), 0, 3000, -1)
	rapid.Check(t, func(t *rapid.T) {
		written := strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), "\n")
		if rapid.Bool().Draw(t, "ended") && written != "" {
			written += "\n"
		}
		n := rapid.IntRange(0, 10).Draw(t, "n")
		log := strings.NewReader(written)
		if err := lastLines(log, int64(n)); err != nil {
			t.Fatal(err)
		}
		all := strings.SplitAfter(strings.TrimSuffix(written, "\n"), "\n")
		want := strings.Join(all[max(0, len(all)-n):], "")
		if n > 0 && strings.HasSuffix(written, "\n") {
			want += "\n"
		}
		if got, err := io.ReadAll(log); err != nil || string(got) != want {
			t.Fatalf("the last %d lines of %q are %q, want %q: %v", n, written, got, want, err)
		}
	})
}

var (
	isWaiting = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	isRunning = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	hasEnded  = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
)

// answered is the answer about a container with this status, in a pod that the cache does not know any more.
func answered(t *testing.T, runtime Runtime, status corev1.ContainerStatus, query string) (code int, said string) {
	t.Helper()
	own := pod(nil)
	own.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	own.Namespace, own.Name = podName.Namespace, podName.Name
	status.Name = "a"
	own.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	k := &Kubelet{
		client: serving(t, []served{{"/api/v1/namespaces/ns/pods/pod", own}}), runtime: runtime,
		pods: corelisters.NewPodLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})),
	}
	recorder := httptest.NewRecorder()
	k.handler().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+query, nil))
	return recorder.Code, recorder.Body.String()
}

// numbered is a Runtime whose logs are the numbers of their runs.
type numbered struct{ Simulated }

func (numbered) Log(_ *corev1.Pod, _ string, run int32) (Log, error) {
	return said{strings.NewReader(strings.Repeat("x", int(run)) + "\n")}, nil
}

// Which log is shown follows from the container's status, as with a kubelet.
func TestWhichLogIsShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state, last corev1.ContainerState
		query       string
		code        int
		says        string
	}{
		"running":                 {isRunning, hasEnded, "", http.StatusOK, "xx\n"},
		"ended":                   {hasEnded, hasEnded, "", http.StatusOK, "xx\n"},
		"between two":             {isWaiting, hasEnded, "", http.StatusOK, "xx\n"},
		"not begun":               {isWaiting, corev1.ContainerState{}, "", http.StatusBadRequest, `container "a" in pod "pod" is waiting to start: ContainerCreating`},
		"previous":                {isRunning, hasEnded, "?previous=true", http.StatusOK, "x\n"},
		"previous, ended":         {hasEnded, hasEnded, "?previous=true", http.StatusOK, "x\n"},
		"previous, between two":   {isWaiting, hasEnded, "?previous=true", http.StatusOK, "xx\n"},
		"no previous":             {isRunning, corev1.ContainerState{}, "?previous=true", http.StatusBadRequest, `previous terminated container "a" in pod "pod" not found`},
		"its pod is gone":         {isRunning, hasEnded, "?follow=true", http.StatusOK, "xx\n"},
		"two bytes":               {isRunning, hasEnded, "?limitBytes=2", http.StatusOK, "xx"},
		"two bytes and no more":   {isRunning, hasEnded, "?limitBytes=2&follow=true", http.StatusOK, "xx"},
		"both streams":            {isRunning, hasEnded, "?stream=All", http.StatusOK, "xx\n"},
		"one stream":              {isRunning, hasEnded, "?stream=Stderr", http.StatusBadRequest, "stdout and stderr together"},
		"times":                   {isRunning, hasEnded, "?timestamps=true", http.StatusBadRequest, "leave out --timestamps"},
		"an hour":                 {isRunning, hasEnded, "?sinceSeconds=3600", http.StatusBadRequest, "take --tail instead of --since"},
		"a time":                  {isRunning, hasEnded, "?sinceTime=2026-03-02T08:00:00Z", http.StatusBadRequest, "take --tail instead of --since"},
		"what no API server asks": {isRunning, hasEnded, "?tailLines=many", http.StatusBadRequest, "invalid syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := corev1.ContainerStatus{State: c.state, LastTerminationState: c.last, RestartCount: 2}
			code, says := answered(t, numbered{}, status, "containerLogs/ns/pod/a"+c.query)
			if code != c.code || !strings.Contains(says, c.says) || code == http.StatusOK && says != c.says {
				t.Errorf("answer %d %q, want %d %q", code, says, c.code, c.says)
			}
		})
	}
}

func TestUnsupportedPaths(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct {
		code int
		says string
	}{
		"containerLogs/ns/pod/b":   {http.StatusBadRequest, `container "b" in pod "pod" is not available`},
		"containerLogs/ns/pod/a":   {http.StatusOK, simulatedLog},
		"containerLogs/ns/none/a":  {http.StatusInternalServerError, ""},
		"exec/ns/pod/a?command=ls": {http.StatusBadRequest, noContainers},
		"attach/ns/pod/a":          {http.StatusBadRequest, noContainers},
		"portForward/ns/pod":       {http.StatusBadRequest, noContainers},
		"portForward/ns/none":      {http.StatusInternalServerError, ""},
		"stats/summary":            {http.StatusNotFound, "logs of containers only"},
	} {
		code, says := answered(t, Simulated{}, corev1.ContainerStatus{State: isRunning}, path)
		if code != c.code || !strings.Contains(says, c.says) {
			t.Errorf("%s: answer %d %q, want %d %q", path, code, says, c.code, c.says)
		}
	}
}

// A run is over when the cache has seen its end or a later one; a cache that lags behind has not seen it.
func TestRunsAreOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status *corev1.ContainerStatus
		uid    types.UID
		want   bool
	}{
		"running":                      {&corev1.ContainerStatus{RestartCount: 1, State: isRunning, LastTerminationState: hasEnded}, "", false},
		"ended":                        {&corev1.ContainerStatus{RestartCount: 1, State: hasEnded}, "", true},
		"ended, to be started again":   {&corev1.ContainerStatus{RestartCount: 1, State: isWaiting, LastTerminationState: hasEnded}, "", true},
		"started again":                {&corev1.ContainerStatus{RestartCount: 2, State: isRunning}, "", true},
		"the run before is still seen": {&corev1.ContainerStatus{RestartCount: 0, State: hasEnded}, "", false},
		"nothing is seen yet":          {nil, "", false},
		"another pod":                  {&corev1.ContainerStatus{RestartCount: 1, State: isRunning}, "another", true},
	} {
		own := pod(nil)
		own.Namespace, own.Name = podName.Namespace, podName.Name
		if c.status != nil {
			c.status.Name = "a"
			own.Status.ContainerStatuses = []corev1.ContainerStatus{*c.status}
		}
		pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		if err := pods.Add(own); err != nil {
			t.Fatal(err)
		}
		k := &Kubelet{pods: corelisters.NewPodLister(pods)}
		if c.uid == "" {
			c.uid = own.UID
		}
		if got := k.over(podName, c.uid, "a", 1); got != c.want {
			t.Errorf("%s: over %t, want %t", name, got, c.want)
		}
	}
}

// What is written between the question whether a run is over and the end of the log is not lost, and a
// reader who goes away is not waited for.
func TestFollowing(t *testing.T) {
	t.Parallel()
	log := &growing{}
	recorder := httptest.NewRecorder()
	steps := []string{"first\n", "", "last\n"}
	over := func() bool {
		log.written += steps[0]
		steps = steps[1:]
		return len(steps) == 0
	}
	if err := copyLog(t.Context(), recorder, log, &corev1.PodLogOptions{}, over); err != nil || recorder.Body.String() != "first\nlast\n" {
		t.Errorf("followed %q: %v", recorder.Body, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := copyLog(gone, httptest.NewRecorder(), log, &corev1.PodLogOptions{}, func() bool { return false }); err != nil {
		t.Error(err)
	}
}

// growing is a log that is written while it is read.
type growing struct {
	written string
	read    int
}

func (g *growing) Read(into []byte) (int, error) {
	n := copy(into, g.written[g.read:])
	if g.read += n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (*growing) Seek(int64, int) (int64, error) { return 0, nil }
func (*growing) Close() error                   { return nil }
