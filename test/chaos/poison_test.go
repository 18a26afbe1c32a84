package chaos

import (
	"fmt"
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/util/uuid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// Scalers that no API server accepts are written straight into the store: as after a change of the zones, or from before a
// rule existed. Each says what is wrong, can still be labelled, and is alone with it: another scaler meets its boundary.
func TestPoisonInTheStore(t *testing.T) {
	window := map[string]any{"days": []any{"Mon"}, "start": "09:00", "end": "17:00", "replicas": 1}
	with := func(change map[string]any) map[string]any {
		spec := map[string]any{
			"timezone": "UTC", "defaultReplicas": 0,
			"gracePeriodSeconds": 0, "pause": false, "windows": []any{window},
		}
		maps.Copy(spec, change)
		return spec
	}
	badWindow := maps.Clone(window)
	badWindow["start"] = "25:99"
	specs := map[string]map[string]any{
		"zone":     with(map[string]any{"timezone": "Mars/Olympus"}),
		"time":     with(map[string]any{"windows": []any{badWindow}}),
		"replicas": with(map[string]any{"defaultReplicas": "150"}),
		"percent":  with(map[string]any{"defaultReplicas": "50%"}),
	}
	l := newLone(t)
	l.SetClock("2025-01-27 08:59:00")
	l.officeHours(fixtures.Deployments, "web", 3, "09:00", "17:00")
	const undecodable = "undecodable" // its status stays empty, because nobody can decode it
	specs[undecodable] = with(map[string]any{"gracePeriodSeconds": 3000000000})
	for name, spec := range specs {
		spec["targetRef"] = map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
		l.Must(etcd.Put(t.Context(), fmt.Sprintf("kyklos.io/timewindowscalers/%s/%s", l.Namespace, name), map[string]any{
			"apiVersion": "kyklos.io/v1beta1", "kind": "TimeWindowScaler", "spec": spec,
			"metadata": map[string]any{"namespace": l.Namespace, "name": name, "uid": uuid.NewUUID(), "generation": 1, "creationTimestamp": "2025-01-01T00:00:00Z"},
		}))
	}
	l.start()
	l.SetClock("2025-01-27 09:00:00")
	l.awaitCount(fixtures.Deployments, "web", 3)
	delete(specs, undecodable)
	for name := range specs {
		l.Until(name+" degraded", func() bool { c := l.condition(name, "Degraded"); return len(c) > 4 && c[:4] == "True" })
		l.Patch(&v1beta1.TimeWindowScaler{ObjectMeta: l.Named(name)}, `{"metadata":{"labels":{"owner":"shop"}}}`)
	}
	l.SetClock("2025-01-27 17:00:00")
	l.awaitCount(fixtures.Deployments, "web", 0)
	l.wroteOnly(fixtures.Deployments, "web", 3, 0)
}
