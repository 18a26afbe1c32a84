package activity_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/activity"
)

// visitor connects again and again, and each connection ends at once.
type visitor struct {
	client      string
	every       time.Duration
	from, until time.Duration
}

// shows are the connections that the kernel shows: those that have ended within a minute.
func (v visitor) shows(at time.Duration) (all []activity.Socket) {
	first := v.from + max(0, at-time.Minute-v.from)/v.every*v.every
	for t := first; t <= min(at, v.until); t += v.every {
		if at-t < time.Minute {
			all = append(all, activity.Socket{Port: 8080, Local: "1:1F90", Remote: fmt.Sprintf("%s:%04X", v.client, t/time.Millisecond%65536), Ended: true})
		}
	}
	return all
}

// lastUsed looks each five seconds for an hour, and returns when the Workspace was last used; 0 for never.
func lastUsed(probes int, visitors ...visitor) (last time.Duration) {
	w := watch()
	w.Probes = probes
	idle := false
	for at := time.Duration(0); at <= time.Hour; at += 5 * seconds {
		sample := activity.Sample{At: at, Sockets: []activity.Socket{listener}}
		for _, v := range visitors {
			sample.Sockets = append(sample.Sockets, v.shows(at)...)
		}
		state, _ := w.Look(sample)
		switch word := w.Word(at); {
		case !word.Ever:
		case state == activity.Used:
			last, idle = at-word.Unused, false
		case !idle:
			idle = true
			if word.Unused != lasts {
				panic(fmt.Sprintf("idle after %s", word.Unused))
			}
		}
	}
	return last
}

// W106: somebody whose requests are connections of their own uses the Workspace, whoever probes it beside. Probes alone do not.
func TestManyShortConnections(t *testing.T) {
	user := visitor{client: "A", every: 4 * seconds, from: 20 * time.Minute, until: 40 * time.Minute}
	hour := func(client string, every time.Duration) visitor {
		return visitor{client: client, every: every, until: time.Hour}
	}
	kubelet := hour("K", 10*seconds)
	for name, test := range map[string]struct {
		probes   int
		visitors []visitor
		used     bool
	}{
		"a request each four seconds":                      {0, []visitor{user}, true},
		"and one probe of the kubelet":                     {6, []visitor{user, kubelet}, true},
		"and two of them":                                  {12, []visitor{user, hour("K", 5*seconds)}, true},
		"and probes of others":                             {6, []visitor{user, kubelet, hour("L", 10*seconds), hour("M", 15*seconds)}, true},
		"one probe of the kubelet":                         {6, []visitor{kubelet}, false},
		"two of them":                                      {12, []visitor{hour("K", 5*seconds)}, false},
		"one each second":                                  {60, []visitor{hour("K", seconds)}, false},
		"a lone probe each ten seconds":                    {0, []visitor{kubelet}, false},
		"some of them":                                     {0, []visitor{kubelet, hour("L", 10*seconds), hour("M", 10*seconds), hour("N", 20*seconds)}, false},
		"connections of the time before the watcher's own": {0, []visitor{{client: "A", every: seconds, from: -time.Minute, until: -seconds}}, false},
	} {
		last := lastUsed(test.probes, test.visitors...)
		if test.used && (last < user.until-5*seconds || last > user.until+35*seconds) || !test.used && last != 0 {
			t.Errorf("%s: last used at %s", name, last)
		}
	}
}

// Whoever probes less often than each nine seconds, from however many addresses: that is no use.
func TestAnyProbes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []visitor
		for i := range rapid.IntRange(1, 6).Draw(t, "probes") {
			every := time.Duration(rapid.IntRange(9000, 60000).Draw(t, "every")) * time.Millisecond
			all = append(all, visitor{client: fmt.Sprint(i), every: every, from: time.Duration(rapid.IntRange(0, 20000).Draw(t, "from")) * time.Millisecond, until: time.Hour})
		}
		if last := lastUsed(0, all...); last != 0 {
			t.Fatalf("last used at %s", last)
		}
	})
}

// Connections that have ended are shown where they were ended from: by a server, or by a client within the Pod.
func TestEndedConnections(t *testing.T) {
	const table = `  sl  local_address rem_address   st
   0: 0100007F:1F90 0200000A:D2F0 06
   1: 0100007F:D2F2 0100007F:1F90 06
   2: 0300000A:D2F4 0200000A:1F90 06
   3: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:D2F6 06
   4: 00000000000000000000000001000000:D2F8 00000000000000000000000001000000:1F90 06
   5: 0100007F:1F90 0100007F:D2FA 08
`
	found, err := activity.Sockets(strings.NewReader(table), 8080)
	if err != nil {
		t.Fatal(err)
	}
	var clients []string
	for _, socket := range found {
		if !socket.Ended || socket.Listens || socket.Port != 8080 {
			t.Errorf("%+v", socket)
		}
		clients = append(clients, socket.Remote)
	}
	if got := strings.Join(clients, " "); got != "0200000A:D2F0 0100007F:D2F2 0100007F:D2F6 00000000000000000000000001000000:D2F8" {
		t.Error(got)
	}
}

// What is said is understood, and what somebody else says is not.
func TestWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := activity.Word{State: rapid.SampledFrom([]activity.State{"", activity.Used, activity.Idle, activity.Silent}).Draw(t, "state")}
		if said.State == activity.Idle {
			said.Unused, said.Ever = time.Duration(rapid.IntRange(0, 1e6).Draw(t, "unused"))*time.Second, rapid.Bool().Draw(t, "ever")
		}
		if got := activity.ParseWord(said.String() + "\n"); got != said {
			t.Fatalf("%q: %+v", said, got)
		}
	})
	for _, text := range []string{"OOMKilled", "idle", "idle: not used for", "idle: not used for ever", "idle: last used -5m ago"} {
		if got := activity.ParseWord(text); got != (activity.Word{}) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
