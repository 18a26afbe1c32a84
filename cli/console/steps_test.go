package console

import (
	"bytes"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// why is longer than a line, and ends with what to do.
const why = "StoreUnreachable: Secret home-archive of namespace team does not exist. Create it: kubectl create secret generic home-archive -n team"

// shown are three steps, of which one is shown again and again.
func shown(s *Steps, clock *clocktesting.FakePassiveClock) {
	s.Show("STOPPING", 0, "", "")
	clock.SetTime(clock.Now().Add(3 * time.Second))
	s.Show("STOPPING", 0, "", "")
	s.Show("ARCHIVING", 50, "1.2 GiB of about 3.4 GiB read", "")
	s.Show("ARCHIVING", 50, "1.2 GiB of about 3.4 GiB read", "")
	s.Show("ARCHIVING", 50, "1.2 GiB of about 3.4 GiB read", why)
	s.Show("ARCHIVING", 50, "1.2 GiB of about 3.4 GiB read", why)
	clock.SetTime(clock.Now().Add(time.Minute))
	s.Show("ARCHIVING", 100, "all read", "")
	s.Show("ARCHIVING", 100, "all read", why)
	s.Done()
	s.Done()
}

// In a file or a pipe each change is a line, without control sequences.
func TestStepsInAFile(t *testing.T) {
	var out bytes.Buffer
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC))
	shown(NewSteps(&out, clock), clock)
	if want := "STOPPING\nARCHIVING: 1.2 GiB of about 3.4 GiB read\n" + why + "\nARCHIVING: all read\n" + why + "\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}

// On a terminal one line is written again and again, and never grows into the next one. Finished steps stay, with their time.
func TestStepsOnATerminal(t *testing.T) {
	var out bytes.Buffer
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC))
	steps := NewSteps(&out, clock)
	steps.width = 60
	shown(steps, clock)
	const half = "ARCHIVING [##########..........] 50 % 0s  1.2 GiB of abo..."
	want := []string{
		"STOPPING 0s", "STOPPING 3s", "STOPPING 3s\n",
		half, half, why + "\n", half, half,
		"ARCHIVING [####################] 100 % 1m0s  all read", why + "\n", "ARCHIVING [####################] 100 % 1m0s  all read", "ARCHIVING 1m0s\n",
	}
	if got := strings.Split(out.String(), erase)[1:]; strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q", got)
	}
}
