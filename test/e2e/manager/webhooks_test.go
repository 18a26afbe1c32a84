package manager

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

// What the webhooks of other teams do to flips.

func allow(context.Context) error  { return nil }
func refuse(context.Context) error { return errors.New("not during the freeze") }

func (s *scenario) awaitCondition(name, kind, want string) string {
	s.Helper()
	tws := &v1beta1.TimeWindowScaler{}
	s.Until(name+"'s "+kind+" "+want, func() bool {
		if s.Client.Get(s.Context(), client.ObjectKey{Namespace: s.Namespace, Name: name}, tws) != nil {
			return false
		}
		c := meta.FindStatusCondition(tws.Status.Conditions, kind)
		return c != nil && string(c.Status)+"/"+c.Reason == want
	})
	return meta.FindStatusCondition(tws.Status.Conditions, kind).Message
}

func (s *scenario) awaitEvent(name, reason string) {
	s.Helper()
	s.Until("an event "+reason, func() bool {
		var list eventsv1.EventList
		s.Must(s.Client.List(s.Context(), &list, client.InNamespace(s.Namespace)))
		for i := range list.Items {
			if list.Items[i].Regarding.Name == name && list.Items[i].Reason == reason {
				return true
			}
		}
		return false
	})
}

// A webhook that cannot be reached is reported after the second failure, for an old scaler and for a new one.
func TestAnUnreachableWebhookIsReported(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2025-01-27 08:00:00")
	s.CreatePair("web", 1, "08:30", "17:00")
	m := s.Start(nil, "--leader-elect=false", "--namespaces="+s.Namespace)
	s.AwaitReady(m)
	s.AwaitSettled(1, 0)
	webhook := s.StartScaleWebhook(s.Namespace, 10, allow)
	webhook.Close()
	s.SetClock("2025-01-27 08:30:00")
	s.CreatePair("new", 2, "08:00", "17:00")
	for _, name := range []string{"web", "new"} {
		message := s.awaitCondition(name, "Degraded", "True/ScaleFailed")
		if want := "Scaling the target fails; this is retried: Internal error occurred: failed calling webhook"; !strings.HasPrefix(message, want) {
			t.Errorf("%s: got %q, want it to begin with %q", name, message, want)
		}
		s.awaitCondition(name, "Ready", "False/TargetMismatch")
		s.awaitEvent(name, "ScaleFailed")
	}
	due := float64(time.Date(2025, 1, 27, 8, 30, 0, 0, time.UTC).Unix())
	series := fmt.Sprintf(`kyklos_next_due_timestamp_seconds{namespace=%q,tws_name="web"}`, s.Namespace)
	if got := s.Sum(m, series); got != due {
		t.Errorf("next due %v, want the boundary that is overdue, %v", got, due)
	}
	webhook.Remove()
	for _, name := range []string{"web", "new"} { // an edit does not wait for the next attempt
		s.Patch(&v1beta1.TimeWindowScaler{ObjectMeta: s.Named(name)}, `{"spec":{"defaultReplicas":1}}`)
		s.awaitCondition(name, "Degraded", "False/OperationalNormal")
	}
	s.AwaitSettled(1, 1)
	s.AwaitSettled(1, 2)
}

// A policy that refuses gets one request each half minute at most, whatever wakes the scaler.
func TestRolloutsDoNotRepeatARefusedWrite(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2025-01-27 08:00:00")
	s.CreatePair("web", 5, "08:30", "17:00")
	proxy := s.StartProxy()
	m := s.Start(proxy, "--leader-elect=false", "--namespaces="+s.Namespace)
	s.AwaitReady(m)
	s.AwaitSettled(1, 0)
	s.StartScaleWebhook(s.Namespace, 10, refuse)
	began := time.Now()
	s.SetClock("2025-01-27 08:30:00")
	s.awaitCondition("web", "Degraded", "True/ScaleFailed")
	for i := range 13 {
		passes := s.Sum(m, "kyklos_reconcile_duration_seconds_count")
		d := &appsv1.Deployment{ObjectMeta: s.Named("web")}
		s.Patch(d, fmt.Sprintf(`{"spec":{"replicas":%d}}`, 1+i%2))
		s.Until("a pass", func() bool { return s.Sum(m, "kyklos_reconcile_duration_seconds_count") > passes })
	}
	writes := len(proxy.Requests(func(r harness.Request) bool { return r.Is("PATCH", "/scale") }))
	if most := 1 + int(time.Since(began)/(30*time.Second)); writes > most {
		t.Errorf("got %d requests to scale in %s, want %d at most", writes, time.Since(began), most)
	}
	// The user edits the scaler: that is other work, and tried at once.
	s.Patch(&v1beta1.TimeWindowScaler{ObjectMeta: s.Named("web")}, `{"spec":{"defaultReplicas":1}}`)
	s.Until("another request", func() bool {
		return len(proxy.Requests(func(r harness.Request) bool { return r.Is("PATCH", "/scale") })) > writes
	})
}

// The webhook of one namespace hangs. A flip in another one does not wait for any of its answers.
func TestANamespaceWhoseWebhookHangsDelaysNoOther(t *testing.T) {
	const hanging = 60
	s, other := newScenario(t), newScenario(t)
	other.Clock = s.Clock
	s.SetClock("2025-01-27 08:00:00")
	for i := range hanging {
		s.CreatePair(fmt.Sprintf("hanging-%02d", i), 1, "08:30", "17:00")
	}
	other.CreatePair("web", 1, "08:30", "17:00")
	m := s.Start(nil, "--leader-elect=false", "--namespaces="+s.Namespace+","+other.Namespace)
	s.AwaitReady(m)
	s.AwaitSettled(hanging, 0)
	other.AwaitSettled(1, 0)
	release := make(chan struct{})
	webhook := s.StartScaleWebhook(s.Namespace, 30, func(ctx context.Context) error {
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	s.SetClock("2025-01-27 08:30:00")
	other.AwaitSettled(1, 1)
	running, ended, most := webhook.Calls()
	if ended > 0 {
		t.Errorf("the other namespace waited for %d answers of the webhook", ended)
	}
	t.Logf("%d calls of the webhook were under way, %d at most; the other flip took %.1f s",
		running, most, s.Sum(m, "kyklos_boundary_lateness_seconds_sum"))
	close(release)
	s.AwaitSettled(hanging, 1)
}
