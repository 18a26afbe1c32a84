package lint_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/lint/ruleset"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/config/crd"
)

// meeting is a cluster and a set of manifests. What is asked about is the last object of the set.
type meeting struct{ there, set []string }

// scalerOf is a TimeWindowScaler; more is a further part of its spec.
func scalerOf(name, target, more string) string {
	return fmt.Sprintf(`{apiVersion: kyklos.io/v1beta1, kind: TimeWindowScaler, metadata: {name: %s}, spec: {targetRef: {%s}, timezone: Asia/Kolkata, %s`+
		`defaultReplicas: 2, windows: [{days: [Mon], start: "09:00", end: "17:00", replicas: 10}]}}`, name, target, more)
}

const (
	webapp   = "kind: Deployment, name: web"
	deployed = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {a: b}}, ` +
		`template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}}`
	scaledByCPU = `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: cpu}, spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}`
	past        = `{apiVersion: v1, kind: ConfigMap, metadata: {name: days}, data: {"2020-01-01": "", "someday": ""}}`
	follows     = `holidays: {mode: treat-as-closed, sourceRef: {name: days}}, `
	archived    = `{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: ada}, spec: {image: a, storage: {size: %s}, archive: {storeRef: {name: store}}}}`
	volume      = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: ws-ada-home}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`
	store       = `{apiVersion: v1, kind: Secret, metadata: {name: store}}`
)

var meetings = map[string]meeting{
	"all is there":                        {there: []string{deployed}, set: []string{scalerOf("office", webapp, "")}},
	"the target is in the set":            {set: []string{deployed, scalerOf("office", webapp, "")}},
	"the target is nowhere":               {set: []string{scalerOf("office", webapp, "")}},
	"the target is scaled by another":     {there: []string{deployed, scalerOf("night", webapp, "")}, set: []string{scalerOf("office", webapp, "")}},
	"by another of the set":               {there: []string{deployed}, set: []string{scalerOf("night", webapp, ""), scalerOf("office", webapp, "")}},
	"by another that the set moves":       {there: []string{deployed, scalerOf("night", webapp, "")}, set: []string{scalerOf("night", "kind: StatefulSet, name: web", ""), scalerOf("office", webapp, "")}},
	"by an autoscaler":                    {there: []string{deployed, scaledByCPU}, set: []string{scalerOf("office", webapp, "")}},
	"by an autoscaler of the set":         {there: []string{deployed}, set: []string{scaledByCPU, scalerOf("office", webapp, "")}},
	"holidays are past":                   {there: []string{deployed, past}, set: []string{scalerOf("office", webapp, follows)}},
	"holidays are nowhere":                {there: []string{deployed}, set: []string{scalerOf("office", webapp, follows)}},
	"a kind that is nowhere":              {set: []string{scalerOf("office", "apiVersion: example.com/v1, kind: Sundial, name: web", "")}},
	"a kind of another group":             {set: []string{scalerOf("office", "apiVersion: batch/v1, kind: Deployment, name: web", "")}},
	"a kind that cannot be scaled":        {set: []string{scalerOf("office", "apiVersion: v1, kind: Pod, name: web", "")}},
	"a kind without namespace":            {set: []string{scalerOf("office", "apiVersion: v1, kind: Node, name: web", "")}},
	"a namespace that is not its own":     {set: []string{scalerOf("office", webapp+", namespace: elsewhere", "")}},
	"a change that keeps what was warned": {there: []string{scalerOf("office", webapp, "")}, set: []string{strings.Replace(scalerOf("office", webapp, ""), "17:00", "18:00", 1)}},
	"a change in the older version": {
		there: []string{deployed, strings.Replace(scalerOf("office", webapp, ""), "replicas: 10", "replicas: 10, timezone: Europe/Berlin", 1)},
		set:   []string{strings.Replace(strings.Replace(scalerOf("office", webapp, ""), "17:00", "18:00", 1), "v1beta1", "v1alpha1", 1)},
	},
	"a Workspace without its store":   {set: []string{fmt.Sprintf(archived, "9Gi")}},
	"a Workspace with its store":      {there: []string{store}, set: []string{fmt.Sprintf(archived, "9Gi")}},
	"a Workspace and a volume":        {there: []string{store, volume}, set: []string{fmt.Sprintf(archived, "9Gi")}},
	"a Workspace and a volume of set": {there: []string{store}, set: []string{volume, fmt.Sprintf(archived, "9Gi")}},
	"a Workspace that shrinks":        {there: []string{store, fmt.Sprintf(archived, "9Gi")}, set: []string{fmt.Sprintf(archived, "5Gi")}},
}

// TestSetMeetsCluster compares what lint reports about a set in a cluster with what the API server with Kyklos says when the
// set is applied there.
func TestSetMeetsCluster(t *testing.T) {
	withKyklos(t)
	server, err := apiserver.New(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	log.SetLogger(logr.Discard())
	var silent atomic.Int32
	t.Run("meetings", func(t *testing.T) {
		for i, name := range slices.Sorted(maps.Keys(meetings)) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if messages := meetings[name].compare(t, fmt.Sprintf("meeting-%d", i), server); len(messages) == 0 {
					silent.Add(1)
				}
			})
		}
	})
	if silent.Load() > 6 {
		t.Errorf("%d of %d meetings have no messages", silent.Load(), len(meetings))
	}
}

// compare returns the messages on which both agree.
func (m meeting) compare(t *testing.T, namespace string, server *apiserver.Server) []string {
	applier := newApplier(t, namespace)
	for _, object := range m.parse(t, m.there) {
		if _, err := applier.apply(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	here, err := ruleset.NewCluster(cluster.Config, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	set := m.parse(t, m.set)
	result, err := ruleset.Run(t.Context(), &manifest.Set{Objects: set}, ruleset.Options{Server: server, Namespace: namespace, Cluster: here, Now: time.Now()})
	if err != nil || len(result.Notes) > 0 {
		t.Fatal(err, result.Notes)
	}
	last := set[len(set)-1]
	linted := messagesOf(result.Findings, last)
	for _, object := range set[:len(set)-1] {
		if _, err := applier.apply(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	// Kyklos reads its caches, which may be a moment behind.
	var answered []string
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var err error
		answered, err = applier.apply(ctx, last, client.DryRunAll)
		return slices.Equal(linted, answered), err
	})
	if err != nil {
		t.Errorf("%v (-lint +API server):\n%s", err, cmp.Diff(linted, answered))
	}
	return linted
}

func (meeting) parse(t *testing.T, texts []string) []*manifest.Object {
	t.Helper()
	objects, problems := manifest.Parse(&manifest.File{Name: "set.yaml", Data: []byte(strings.Join(texts, "\n---\n"))})
	if len(problems) > 0 || len(objects) != len(texts) {
		t.Fatal(len(objects), problems)
	}
	return objects
}

// elsewhere is where the other object of a message is, which only lint adds.
var elsewhere = regexp.MustCompile(` \(set\.yaml:\d+\)$`)

// messagesOf are the findings about an object in the form of an API server, without those that only lint has.
func messagesOf(findings []lint.Finding, object *manifest.Object) []string {
	messages := []string{}
	for _, f := range findings {
		if f.Object == object && f.Rule != lint.DuplicateObject {
			messages = append(messages, fmt.Sprintf("%s: %s", f.Severity, strings.TrimSpace(f.Field+" "+elsewhere.ReplaceAllString(f.Message, ""))))
		}
	}
	slices.Sort(messages)
	return messages
}

// applier applies objects in a namespace of its own, as kubectl apply does: what it does not name stays.
type applier struct {
	client    client.Client
	namespace string
	warnings  *requestWarnings
}

// requestWarnings collects the warnings of one request.
type requestWarnings struct{ texts []string }

func (w *requestWarnings) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

func newApplier(t *testing.T, namespace string) *applier {
	t.Helper()
	a := &applier{namespace: namespace, warnings: &requestWarnings{}}
	config := rest.CopyConfig(cluster.Config)
	config.WarningHandler = a.warnings
	var err error
	if a.client, err = client.New(config, client.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := a.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	return a
}

var ofField = regexp.MustCompile(`^((?:spec|metadata)\S*[^:\s]):? `)

// apply returns what the API server says, sorted; the error is about anything but the object.
func (a *applier) apply(ctx context.Context, object *manifest.Object, options ...client.CreateOption) (messages []string, err error) {
	a.warnings.texts = nil
	applied := object.Unstructured().DeepCopy()
	applied.SetNamespace(a.namespace)
	body, err := applied.MarshalJSON()
	if err != nil {
		return nil, err
	}
	err = a.client.Create(ctx, applied, options...)
	if apierrors.IsAlreadyExists(err) {
		a.warnings.texts = nil
		var patch []client.PatchOption
		if len(options) > 0 {
			patch = append(patch, client.DryRunAll)
		}
		err = a.client.Patch(ctx, applied, client.RawPatch(types.MergePatchType, body), patch...)
	}
	messages = []string{}
	for _, text := range a.warnings.texts {
		messages = append(messages, "warning: "+ofField.ReplaceAllString(text, "$1 "))
	}
	if status := (apierrors.APIStatus)(nil); errors.As(err, &status) && apierrors.IsInvalid(err) && len(options) > 0 {
		for _, cause := range status.Status().Details.Causes {
			messages = append(messages, fmt.Sprintf("error: %s %s", cause.Field, cause.Message))
		}
		err = nil
	}
	slices.Sort(messages)
	return messages, err
}
