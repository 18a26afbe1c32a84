package storm

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	watchapi "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"k8s.io/utils/ptr"
)

// watch starts a watch, calls begin, and returns when it saw each Deployment whose name has the prefix with the replicas.
func (s *scenario) watch(prefix string, replicas int32, begin func()) (seen map[string]time.Time) {
	s.Helper()
	config := rest.CopyConfig(s.Cluster.Config)
	config.ContentType = runtime.ContentTypeProtobuf // which takes the least time to decode
	clients, err := kubernetes.NewForConfig(config)
	s.Must(err)
	deployments := clients.AppsV1().Deployments(s.Namespace)
	now, err := deployments.List(s.Context(), metav1.ListOptions{Limit: 1})
	s.Must(err)
	// The API server ends a watch that does not follow; it goes on from there.
	watch, err := toolswatch.NewRetryWatcherWithContext(s.Context(), now.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watchapi.Interface, error) {
			return deployments.Watch(ctx, options)
		},
	})
	s.Must(err)
	defer watch.Stop()
	begin()
	seen = map[string]time.Time{}
	patience := time.After(s.patience())
	for len(seen) < s.count {
		select {
		case event, open := <-watch.ResultChan():
			at := time.Now()
			deployment, ok := event.Object.(*appsv1.Deployment)
			if !open || event.Type == watchapi.Error {
				s.Fatalf("the watch ended: %v", event)
			}
			if !ok || !strings.HasPrefix(deployment.Name, prefix) {
				continue // a bookmark, or another's
			}
			if _, before := seen[deployment.Name]; !before && ptr.Deref(deployment.Spec.Replicas, -1) == replicas {
				seen[deployment.Name] = at
			}
		case <-patience:
			s.Fatalf("%d of %d Deployments have %d replicas", len(seen), s.count, replicas)
		}
	}
	return seen
}

// ends returns the first and the last of some times.
func ends(seen map[string]time.Time) (first, last time.Time) {
	all := slices.SortedFunc(maps.Values(seen), time.Time.Compare)
	return all[0], all[len(all)-1]
}

// patience grows with the number of changes.
func (s *scenario) patience() time.Duration {
	return 2*time.Minute + time.Duration(s.count)*50*time.Millisecond
}

// parseLabels reads the labels of a metric's line, none of which has a comma or a quote in it.
func parseLabels(text string) map[string]string {
	labels := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, "=")
		labels[name] = strings.Trim(value, `"`)
	}
	return labels
}
