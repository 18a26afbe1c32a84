package chaos

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// While the manager's watches are cut, frozen or expired, targets and scalers are deleted and created again, the scalers
// with another count, and a boundary comes. The manager does not do what the deleted scalers asked for. When it sees
// again, it does what the new ones ask for, once.
func TestRecreatedWhileBlind(t *testing.T) {
	for name, blind := range map[string]func(*lone) (see func()){
		"cut":     func(l *lone) func() { return l.cut(harness.Cut) },
		"expired": func(l *lone) func() { return l.cut(harness.Expired) },
		"frozen":  func(l *lone) func() { return l.proxy.HoldEvents(harness.Match{}) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLone(t)
			l.SetClock("2025-01-27 08:59:00")
			kinds := []fixtures.TargetKind{fixtures.Deployments, fixtures.StatefulSets}
			for _, kind := range kinds {
				l.officeHours(kind, kind.Resource, 3, "09:00", "17:00")
			}
			l.start()
			for _, kind := range kinds {
				l.awaitCount(kind, kind.Resource, 0)
			}
			see := blind(l)
			for _, kind := range kinds {
				l.recreate(kind, 7, 4)
			}
			l.proxy.Forget()
			l.SetClock("2025-01-27 09:00:00")
			l.Until("a write to each, on what the manager knows", func() bool {
				return !slices.ContainsFunc(kinds, func(kind fixtures.TargetKind) bool { return len(l.sent(kind, kind.Resource)) == 0 })
			})
			see()
			for _, kind := range kinds {
				l.awaitCount(kind, kind.Resource, 4)
				l.wroteOnly(kind, kind.Resource, 4)
			}
		})
	}
}

// cut ends all watches and lets none begin.
func (l *lone) cut(how harness.Ending) (see func()) {
	l.Helper()
	rule := l.proxy.Add(harness.Rule{Match: harness.Match{Verbs: []string{"watch", "list"}}, Action: harness.Drop()})
	l.proxy.EndWatches(harness.Match{}, how)
	return rule.Remove
}

// recreate replaces a target and its scaler.
func (s *scenario) recreate(kind fixtures.TargetKind, has, wants int32) {
	s.Helper()
	s.Must(s.Client.Delete(s.Context(), &v1beta1.TimeWindowScaler{ObjectMeta: s.Named(kind.Resource)}))
	s.Must(s.Client.Delete(s.Context(), kind.Reference(s.Named(kind.Resource)), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.Must(s.Client.Create(s.Context(), kind.New(s.Named(kind.Resource), has)))
	s.Must(s.Client.Create(s.Context(), s.officeHoursOf(kind, kind.Resource, wants, "09:00", "17:00")))
}

// The events of what the manager wrote itself come only after two flips. Each flip is written once. Nothing is written
// back, neither meanwhile nor when the events come.
func TestOwnEventsHeldBack(t *testing.T) {
	for name, match := range map[string]harness.Match{
		"of targets": {Resource: "deployments"}, "of scalers": {Resource: "timewindowscalers"}, "of all": {},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLone(t)
			l.SetClock("2025-01-27 08:59:00")
			l.officeHours(fixtures.Deployments, "web", 3, "09:00", "17:00")
			l.start()
			l.awaitCount(fixtures.Deployments, "web", 0)
			l.AwaitSettled(1, 0)
			l.proxy.Forget()
			release := l.proxy.HoldEvents(match)
			l.SetClock("2025-01-27 09:00:00")
			l.awaitWritten(1, 3)
			l.SetClock("2025-01-27 17:00:00")
			l.awaitWritten(1, 0)
			release()
			l.AwaitSettled(1, 0)
			l.SetClock("2025-01-28 09:00:00")
			l.AwaitSettled(1, 3)
			l.wroteOnly(fixtures.Deployments, "web", 3, 0, 3)
		})
	}
}
