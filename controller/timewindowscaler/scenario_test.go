package timewindowscaler

import (
	"cmp"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// scenario runs the pure part of passes over one scaler: plan, then report. The write is simulated; the
// end-to-end tests show that the API server does the same.
type scenario struct {
	*testing.T
	tws *v1beta1.TimeWindowScaler
	obs observation
	// refusal is what the API server answers to writes, nil for success. outage is the same where it fails to
	// answer, again and again.
	refusal, outage error
	// took is how long a write takes.
	took time.Duration
	// rival is the writer named by the managed fields.
	rival string

	last     passResult
	messages *transcript
}

var kolkata = mustZone("Asia/Kolkata")

func mustZone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return zone
}

// ist reads a time of Kolkata such as "2025-01-27 09:00:00", a Monday.
func ist(local string) time.Time {
	t, err := time.ParseInLocation(time.DateTime, local, kolkata)
	if err != nil {
		panic(err)
	}
	return t
}

// officeHours is the scaler of most scenarios: 10 replicas on weekdays from 9 to 17 in Kolkata, else 2.
func officeHours() *v1beta1.TimeWindowScaler {
	return &v1beta1.TimeWindowScaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "production", Name: "webapp-office-hours", UID: "u-1", Generation: 1},
		Spec: v1beta1.TimeWindowScalerSpec{
			TargetRef:       v1beta1.TargetRef{APIVersion: "apps/v1", Kind: "Deployment", Name: "webapp"},
			Timezone:        "Asia/Kolkata",
			DefaultReplicas: intstr.FromInt32(2),
			Windows: []v1beta1.Window{{
				Days: []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri"}, Start: "09:00", End: "17:00", Replicas: intstr.FromInt32(10),
			}},
		},
	}
}

func newScenario(t *testing.T, replicas int32) *scenario {
	return &scenario{T: t, tws: officeHours(), obs: observation{target: deployment(replicas, replicas)}, messages: newTranscript(t)}
}

func deployment(spec, observed int32) target.Target {
	return &target.Replicated{Common: target.Common{UID: "d-1", ResourceVersion: "1", Spec: spec, Observed: observed}}
}

// pass runs one pass at a local time; its status is stored, and pods follow the spec at once.
func (s *scenario) pass(local string) *passResult {
	s.Helper()
	return s.passAt(ist(local))
}

func (s *scenario) passAt(now time.Time) *passResult {
	s.Helper()
	p := plan(s.tws, s.obs, now)
	if p.fight.Nameless() {
		s.obs.fight.rival = cmp.Or(s.rival, "Another writer")
		p = plan(s.tws, s.obs, now)
	}
	done := outcome{target: s.obs.target}
	switch {
	case p.Write && s.refusal != nil:
		done.refused = s.refusal
	case p.Write && s.outage != nil:
		done.failed = s.outage
	case p.Write:
		done.scaled, done.from, done.at = true, s.obs.target.Base().Spec, now.Add(s.took)
		done.target = deployment(p.effective, s.obs.target.Base().Observed)
	}
	s.last = passResult{tws: s.tws.DeepCopy(), obs: s.obs, plan: p, outcome: done, now: now}
	s.tws.Status = s.last.status()
	s.obs.graceSince = p.length.since
	s.obs.fight = fightObservation{before: p.fight, enforce: s.obs.fight.enforce}
	if done.scaled {
		s.obs.fight.before.Correct(now)
	}
	s.obs.fight.before.Announced = p.fight.On()
	if s.obs.overdue = p.due; done.scaled {
		s.obs.overdue = time.Time{}
	}
	if done.target != nil {
		s.obs.target = deployment(done.target.Base().Spec, done.target.Base().Spec)
	}
	return &s.last
}

// edit changes the spec as a user would.
func (s *scenario) edit(change func(*v1beta1.TimeWindowScalerSpec)) {
	change(&s.tws.Spec)
	s.tws.Generation++
}

// expectEvents checks the reasons of the last pass's events, in their order.
func (s *scenario) expectEvents(want ...string) {
	s.Helper()
	var got []string
	for _, ev := range s.last.events() {
		got = append(got, ev.Reason)
		s.messages.add(ev.Reason + ": " + ev.Note)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		s.Errorf("events (-want +got)\n%s", diff)
	}
}

// expectEffective checks the replica count in force and how long it is kept by a grace period, "" for none.
func (s *scenario) expectEffective(replicas int32, until string) {
	s.Helper()
	status := s.tws.Status
	if got := ptr.Deref(status.EffectiveReplicas, -1); got != replicas {
		s.Errorf("effective replicas %d, want %d", got, replicas)
	}
	if got := localTime(status.GracePeriodExpiry); got != until {
		s.Errorf("grace period until %q, want %q", got, until)
	}
}

// expectTargetSpec checks the target's spec.replicas.
func (s *scenario) expectTargetSpec(replicas int32) {
	s.Helper()
	if got := s.obs.target.Base().Spec; got != replicas {
		s.Errorf("target has %d replicas in its spec, want %d", got, replicas)
	}
}

// expectCondition checks one condition as "status/reason".
func (s *scenario) expectCondition(kind, want string) {
	s.Helper()
	expectCondition(s.T, s.messages, s.tws, kind, want)
}

func expectCondition(t *testing.T, messages *transcript, tws *v1beta1.TimeWindowScaler, kind, want string) {
	t.Helper()
	c := meta.FindStatusCondition(tws.Status.Conditions, kind)
	if c == nil {
		t.Fatalf("no condition %s", kind)
	}
	got := string(c.Status) + "/" + c.Reason
	if got != want {
		t.Errorf("%s is %s, want %s: %s", kind, got, want, c.Message)
	}
	messages.add(kind + " " + got + ": " + c.Message)
}

func localTime(t *metav1.Time) string {
	if t == nil {
		return ""
	}
	return t.In(kolkata).Format(time.DateTime)
}
