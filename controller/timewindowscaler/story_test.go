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
)

// story drives the pure part of passes over one scaler: plan, then the report of what came of it.
// The write of a plan is done by hand; that the API server does it so is proved end to end.
type story struct {
	*testing.T
	tws *v1beta1.TimeWindowScaler
	obs observation
	// refusal is what the API server answers to writes, nil for success.
	refusal error
	// rival is who the managed fields name.
	rival string

	last situation
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

// officeHours is the scaler of most stories: 10 replicas on weekdays from 9 to 17 in Kolkata, else 2.
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

func newStory(t *testing.T, replicas int32) *story {
	return &story{T: t, tws: officeHours(), obs: observation{target: deployment(replicas, replicas)}}
}

func deployment(spec, observed int32) *target {
	return &target{uid: "d-1", resourceVersion: "1", specReplicas: spec, observedReplicas: observed}
}

// passes runs one pass at a local time; its status is stored, and pods follow the spec at once.
func (s *story) passes(local string) *situation {
	s.Helper()
	return s.passesAt(ist(local))
}

func (s *story) passesAt(now time.Time) *situation {
	s.Helper()
	p := makePlan(s.tws, s.obs, now)
	if p.fight.nameless() {
		s.obs.fight.rival = cmp.Or(s.rival, anotherWriter)
		p = makePlan(s.tws, s.obs, now)
	}
	done := outcome{target: s.obs.target}
	switch {
	case p.write && s.refusal != nil:
		done.refused = s.refusal
	case p.write:
		done.scaled, done.from = true, s.obs.target.specReplicas
		done.target = deployment(p.effective, s.obs.target.observedReplicas)
	}
	s.last = situation{tws: s.tws.DeepCopy(), obs: s.obs, plan: p, outcome: done, now: now}
	s.tws.Status = s.last.status()
	s.obs.fight = fightObservation{before: p.fight, enforce: s.obs.fight.enforce}
	if done.scaled {
		s.obs.fight.before.correct(now)
	}
	s.obs.fight.before.told = p.fight.on()
	if done.target != nil {
		s.obs.target = deployment(done.target.specReplicas, done.target.specReplicas)
	}
	return &s.last
}

// edits changes the spec as a user does.
func (s *story) edits(change func(*v1beta1.TimeWindowScalerSpec)) {
	change(&s.tws.Spec)
	s.tws.Generation++
}

// hears checks the notes of the last pass's events, in their order.
func (s *story) hears(want ...string) {
	s.Helper()
	var got []string
	for _, ev := range s.last.announcements() {
		got = append(got, ev.Note)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		s.Errorf("events (-want +got)\n%s", diff)
	}
}

// keeps checks the replica count in force and how long it is kept by a grace period, "" for none.
func (s *story) keeps(replicas int32, until string) {
	s.Helper()
	status := s.tws.Status
	if got := ptr.Deref(status.EffectiveReplicas, -1); got != replicas {
		s.Errorf("effective replicas %d, want %d", got, replicas)
	}
	if got := localTime(status.GracePeriodExpiry); got != until {
		s.Errorf("grace period until %q, want %q", got, until)
	}
}

// stands checks the target's spec.replicas.
func (s *story) stands(replicas int32) {
	s.Helper()
	if got := s.obs.target.specReplicas; got != replicas {
		s.Errorf("target has %d replicas in its spec, want %d", got, replicas)
	}
}

// shows checks one condition as "status/reason: message".
func (s *story) shows(kind, want string) {
	s.Helper()
	c := meta.FindStatusCondition(s.tws.Status.Conditions, kind)
	if c == nil {
		s.Fatalf("no condition %s", kind)
	}
	if got := string(c.Status) + "/" + c.Reason + ": " + c.Message; got != want {
		s.Errorf("%s\n got %s\nwant %s", kind, got, want)
	}
}

func localTime(t *metav1.Time) string {
	if t == nil {
		return ""
	}
	return t.In(kolkata).Format(time.DateTime)
}
