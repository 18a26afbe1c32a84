package lifecycle_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// archivingAt is an ARCHIVING whose attempt began some time ago.
func archivingAt(ago time.Duration, change ...func(*lifecycle.Operation)) lifecycle.Input {
	in := at(inOperation(lifecycle.Archiving, ago), found(lifecycle.Absent, 0))
	in.Status.Operation.JobName = ""
	for _, c := range change {
		c(&in.Status.Operation)
	}
	return in
}

func retryAt(when time.Time) func(*lifecycle.Operation) {
	return func(o *lifecycle.Operation) { o.NextRetryAt, o.AttemptStartedAt, o.Attempt = when, when, 2 }
}

// W56: an attempt begins when it may and has a slot, and its time limit with it.
func TestAnAttemptBeginsWithASlot(t *testing.T) {
	const hour = time.Hour
	full := func(in lifecycle.Input) lifecycle.Input {
		in.Limits.MoversFull = true
		return in
	}
	begun := func(d lifecycle.Decision) bool {
		return d.Status.Operation.AttemptStartedAt.Equal(noon) && d.Status.Operation.NextRetryAt.IsZero()
	}
	waits := lifecycle.Decide(archivingAt(hour, retryAt(noon.Add(time.Second))))
	if waits.Code != lifecycle.CodeRetrying || waits.Status.Operation.HoldsMover(noon, true) {
		t.Errorf("before its time: %s, %+v", waits.Code, waits.Status.Operation)
	}
	blocked := lifecycle.Decide(full(archivingAt(hour, retryAt(noon.Add(-hour)))))
	if blocked.Code != lifecycle.CodeMoversFull || blocked.Status.Operation.HoldsMover(noon, true) || blocked.Status.Operation.Failures != (lifecycle.Failures{}) {
		t.Errorf("an hour without a slot: %s, %+v", blocked.Code, blocked.Status.Operation)
	}
	if free := lifecycle.Decide(archivingAt(hour, retryAt(noon.Add(-hour)))); !begun(free) || !free.Status.Operation.HoldsMover(noon, false) {
		t.Errorf("with a slot: %s, %+v", free.Code, free.Status.Operation)
	}
	// One that prepared for long, such as for a Pod to end, needs a slot again.
	if early := lifecycle.Decide(full(archivingAt(time.Minute))); early.Status.Operation.JobName == "" {
		t.Errorf("it holds one: %s", early.Code)
	}
	late := full(archivingAt(2 * time.Minute))
	d := lifecycle.Decide(late)
	if d.Code != lifecycle.CodeMoversFull || d.Status.Operation.JobName != "" || !d.Status.Operation.NextRetryAt.Equal(noon) {
		t.Errorf("it holds none: %s, %+v", d.Code, d.Status.Operation)
	}
	late.Status = d.Status
	if again := lifecycle.Decide(late); again.Code != lifecycle.CodeMoversFull || again.Status != d.Status {
		t.Errorf("it does not rest: %s", again.Code)
	}
	if free := lifecycle.Decide(archivingAt(2 * time.Minute)); !begun(free) || free.Status.Operation.JobName == "" {
		t.Errorf("with a slot: %s, %+v", free.Code, free.Status.Operation)
	}
}

// W57: a Job without a Pod is asked about after a minute.
func TestAJobWithoutAPodIsAskedAbout(t *testing.T) {
	podless := func(began, since time.Duration) lifecycle.Input {
		in := at(inOperation(lifecycle.Archiving, began), moving(lifecycle.JobRunning))
		in.Observed.Jobs[0].PodlessSince = noon.Add(-since)
		return in
	}
	if d := lifecycle.Decide(podless(time.Hour/4, time.Minute)); d.Act.Kind != lifecycle.ActTryMover {
		t.Errorf("after a minute: %s", d.Act.Kind)
	}
	for name, in := range map[string]lifecycle.Input{
		"before":                         podless(time.Hour/4, 59*time.Second),
		"the API server's clock is late": podless(time.Second, time.Hour),
		"accepted":                       func() lifecycle.Input { in := podless(time.Hour/4, time.Hour/4); in.MoverAccepted = true; return in }(),
		"it has a Pod":                   at(inOperation(lifecycle.Archiving, time.Hour/4), moving(lifecycle.JobRunning)),
	} {
		if d := lifecycle.Decide(in); d.Act.Kind != lifecycle.ActNone || d.Code != lifecycle.CodeWorking || d.Status != in.Status {
			t.Errorf("%s: %s, %s", name, d.Act.Kind, d.Code)
		}
	}
	refused := podless(time.Hour/4, time.Minute)
	refused.Rejected = lifecycle.Rejection{Reason: lifecycle.ActionFailed, Code: lifecycle.CodeFailedCreate}
	if d := lifecycle.Decide(refused); d.Status.Error.Code != lifecycle.CodeFailedCreate || d.Status.Operation.Attempt != 2 || d.Status.Operation.HoldsMover(noon, true) {
		t.Errorf("%s, %+v", d.Code, d.Status.Operation)
	}
}
