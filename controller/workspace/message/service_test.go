package message_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// The page lists the reasons of ServiceReady with their messages, and each problem is one event.
func TestServiceReasons(t *testing.T) {
	page, err := os.ReadFile("../../../docs/workspace-status.md")
	if err != nil {
		t.Fatal(err)
	}
	const quota = `services "ws-ann" is forbidden: exceeded quota: team`
	for _, c := range []struct {
		service message.Service
		address string
		events  int
	}{
		{message.Service{Reason: v1alpha1.ReasonServiceReady}, "ws-ann.team.svc:8080", 0},
		{message.Service{Reason: v1alpha1.ReasonNoPorts}, "", 0},
		{message.Service{Reason: v1alpha1.ReasonServiceForeign}, "", 1},
		{message.Service{Reason: v1alpha1.ReasonServiceRefused, Cause: quota}, "", 1},
	} {
		facts := situation{before: status(lifecycle.Standby, lifecycle.None), code: lifecycle.CodeConverged}.facts()
		facts.Workspace.Spec.Ports = []int32{8080, 2222}
		facts.Workspace.Status.Address = "an earlier one"
		facts.Service = c.service
		got := facts.Status(eight)
		condition := meta.FindStatusCondition(got.Conditions, v1alpha1.ConditionServiceReady)
		if condition == nil || got.Address != c.address || len(facts.ServiceEvents()) != c.events {
			t.Errorf("%s: %+v, the address %q, the events %v", c.service.Reason, condition, got.Address, facts.ServiceEvents())
			continue
		}
		if row := fmt.Sprintf("| `%s` | %s | %s |", condition.Reason, condition.Status, condition.Message); !strings.Contains(string(page), row) {
			t.Errorf("the page does not have the row\n%s", row)
		}
		facts.Workspace.Status = got
		if again := facts.ServiceEvents(); len(again) > 0 {
			t.Errorf("%s is announced again: %v", c.service.Reason, again)
		}
		facts.Service = message.Service{}
		if kept := facts.Status(eight); kept.Address != got.Address || meta.FindStatusCondition(kept.Conditions, v1alpha1.ConditionServiceReady).Reason != c.service.Reason {
			t.Errorf("%s: with nothing new it says %q", c.service.Reason, kept.Address)
		}
	}
}

// The percent of a mover never go back, from its first step to its last one.
func TestPercent(t *testing.T) {
	var last int32
	for _, p := range []archive.Progress{
		{Step: archive.Packing, Bytes: 1, OfBytes: 0}, {Step: archive.Packing, Bytes: 1 * gibi, OfBytes: 4 * gibi}, {Step: archive.Packing, Bytes: 9 * gibi, OfBytes: 4 * gibi},
		{Step: archive.Verifying, Bytes: 0, OfBytes: 4 * gibi}, {Step: archive.Verifying, Bytes: 2 * gibi, OfBytes: 4 * gibi}, {Step: archive.Verifying, Bytes: 4 * gibi, OfBytes: 4 * gibi},
	} {
		now := message.Percent(p)
		if now < last || now > 100 {
			t.Errorf("%+v: %d after %d", p, now, last)
		}
		last = now
	}
	if last != 100 {
		t.Errorf("it ends at %d", last)
	}
	for _, step := range steps {
		if got := message.Percent(step); got < 0 || got > 100 || step.OfBytes == 0 && got != 0 {
			t.Errorf("%+v: %d", step, got)
		}
	}
	if got := message.Percent(archive.Progress{Step: archive.Unpacking, Bytes: 1, OfBytes: 4}); got != 25 {
		t.Errorf("a quarter is %d", got)
	}
}
