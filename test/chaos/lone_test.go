package chaos

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/chaos/matrix"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// whole makes faults last as long as docs/faults.md says.
var whole = flag.Bool("whole", false, "let every fault last its whole time, up to eleven minutes; otherwise a slice of it")

// lasts returns how long a fault lasts.
func lasts(slice, all time.Duration) time.Duration {
	if *whole {
		return all
	}
	return slice
}

// soon is shorter than a back-off after failures was. What Kyklos does in that time, it does not owe to one.
const soon = 25 * time.Second

// afterFault calls await when a fault has ended: what is due happens soon. A new scaler shows first that everything works
// again, however slow this machine is.
func (l *lone) afterFault(replicas int32, await func()) {
	l.Helper()
	name := fmt.Sprint("new-", time.Now().UnixNano())
	l.officeHours(fixtures.Deployments, name, 3, "09:00", "17:00")
	l.awaitCount(fixtures.Deployments, name, replicas)
	l.Patience = soon
	await()
	l.Patience = 0
}

// lone is a scenario whose manager serves only its own namespace, so that it runs beside others.
type lone struct {
	*scenario
	proxy   *harness.Proxy
	manager *harness.Manager
}

func newLone(t *testing.T) *lone {
	t.Helper()
	t.Parallel()
	s := newScenario(t)
	return &lone{scenario: s, proxy: s.StartProxy()}
}

// start starts the manager.
func (l *lone) start() {
	l.Helper()
	l.manager = l.Start(l.proxy, "--namespaces="+l.Namespace, "--leader-elect=false", "--webhooks=false", "--storage-migration=false")
	l.AwaitReady(l.manager)
}

// officeHours creates a target and its scaler: on weekdays replicas from start to end UTC, else 0. A target that is on or
// off is on or off.
func (s *scenario) officeHours(kind fixtures.TargetKind, name string, replicas int32, start, end string, change ...func(*v1beta1.TimeWindowScalerSpec)) {
	s.Helper()
	s.Must(s.Client.Create(s.Context(), kind.New(s.Named(name), 0)))
	s.Must(s.Client.Create(s.Context(), s.officeHoursOf(kind, name, replicas, start, end, change...)))
}

func (s *scenario) officeHoursOf(kind fixtures.TargetKind, name string, replicas int32, start, end string, change ...func(*v1beta1.TimeWindowScalerSpec)) *v1beta1.TimeWindowScaler {
	tws := &v1beta1.TimeWindowScaler{ObjectMeta: s.Named(name), Spec: v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{APIVersion: kind.APIVersion, Kind: kind.Name, Name: name},
		Timezone:  "UTC",
		Windows: []v1beta1.Window{{
			Days: []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri"}, Start: start, End: end, Replicas: intstr.FromInt32(replicas),
		}},
	}}
	for _, c := range change {
		c(&tws.Spec)
	}
	return tws
}

// everyKind creates one pair of each kind, named after its resource.
func (s *scenario) everyKind() {
	s.Helper()
	for _, kind := range fixtures.TargetKinds {
		s.officeHours(kind, kind.Resource, 3, "09:00", "17:00")
	}
}

// awaitCount waits until the target has the count and the scaler's status says so.
func (s *scenario) awaitCount(kind fixtures.TargetKind, name string, replicas int32) {
	s.Helper()
	s.AwaitCount(kind, name, replicas)
}

// awaitKinds is awaitCount for everyKind.
func (s *scenario) awaitKinds(replicas int32) {
	s.Helper()
	for _, kind := range fixtures.TargetKinds {
		s.awaitCount(kind, kind.Resource, replicas)
	}
}

// accepted returns the counts that managers wrote to a target, oldest first, without those that the API server refused.
func (l *lone) accepted(kind fixtures.TargetKind, name string) (counts []int32) {
	l.Helper()
	for _, r := range l.sent(kind, name) {
		if r.Code == http.StatusOK {
			counts = append(counts, countOf(l.TB, kind, r))
		}
	}
	return counts
}

// sent returns the writes to a target that managers sent, whatever became of them.
func (l *lone) sent(kind fixtures.TargetKind, name string) []harness.Request {
	l.Helper()
	return l.proxy.Requests(func(r harness.Request) bool {
		return r.Resource == kind.Resource && r.Namespace == l.Namespace && r.Name == name && r.Verb == "patch" && countOf(l.TB, kind, r) >= 0
	})
}

func countOf(t testing.TB, kind fixtures.TargetKind, r harness.Request) int32 {
	t.Helper()
	var body map[string]any
	harness.Must(t, json.Unmarshal([]byte(r.Body), &body))
	return kind.Count(body)
}

// wroteOnly checks the counts that were written to a target. A write whose answer the manager did not wait for may be
// missing in what the proxy saw.
func (l *lone) wroteOnly(kind fixtures.TargetKind, name string, want ...int32) {
	l.Helper()
	if kind.OnOff() {
		for i := range want {
			want[i] = min(want[i], 1)
		}
	}
	unanswered := slices.ContainsFunc(l.sent(kind, name), func(r harness.Request) bool { return r.Code == 0 })
	got := l.accepted(kind, name)
	seen := 0
	for _, count := range want {
		if seen < len(got) && got[seen] == count {
			seen++
		}
	}
	if seen < len(got) || len(got) < len(want) && !unanswered {
		l.Errorf("writes to %s: got %v, want %v", name, got, want)
	}
}

// condition returns the status and reason of a scaler's condition.
func (s *scenario) condition(name, kind string) string {
	s.Helper()
	tws := &v1beta1.TimeWindowScaler{}
	s.Get(s.Namespace, name, tws)
	c := meta.FindStatusCondition(tws.Status.Conditions, kind)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason
}

// measured records a measurement for docs/faults.md.
func (s *scenario) measured(fault, what string, value any) {
	s.Helper()
	s.Logf("%s, %s: %v", fault, what, value)
	s.Must(matrix.Record(fault, what, value))
}
