package certs

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// written is a good generation of files.
type written struct {
	contents map[string][]byte
	until    time.Time
	// firstSeen is when it was first seen, while nothing newer is written.
	firstSeen time.Time
}

// TestMountedProperties: after any change of the files, the served leaf was good
// when it was written, no newer leaf that is as likely to be trusted is ignored, and
// a replica is ready if its leaf is valid.
func TestMountedProperties(outer *testing.T) {
	bad := badFiles(outer)
	const early = "not valid yet"
	if bad[early] == nil {
		outer.Fatalf("no bad files are %q", early)
	}
	delete(bad, early) // they become good
	kinds := slices.Sorted(maps.Keys(bad))
	ca := NewAuthority(outer, noon.Add(-time.Hour), noon.Add(1000*time.Hour))
	rapid.Check(outer, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "mounted")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		folder := &Folder{Dir: dir}
		m, now := mounted(outer, dir, serviceName, "127.0.0.1")
		var good []written
		usable := false // the files as they are now
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now.SetTime(now.Now().Add(time.Duration(rapid.IntRange(1, 120).Draw(t, "seconds")) * time.Second))
			switch rapid.IntRange(0, 4).Draw(t, "action") {
			case 0:
				until := now.Now().Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "life")) * time.Minute)
				good = append(good, written{ca.Issue(outer, now.Now(), until, serviceName), until, now.Now()})
				write(outer, folder, good[len(good)-1].contents)
				usable = true
			case 1:
				write(outer, folder, bad[rapid.SampledFrom(kinds).Draw(t, "bad")])
				usable = false
			}
			m.refresh()
			checkServed(t, m, good, usable, now.Now())
		}
	})
}

func checkServed(t *rapid.T, m *Mounted, good []written, usable bool, now time.Time) {
	pair, ready := m.served(), m.Ready(nil)
	at := slices.IndexFunc(good, func(w written) bool { return serves(pair, w.contents) })
	if pair != nil && at < 0 {
		t.Fatal("served is what was never good")
	}
	if len(good) == 0 {
		if pair != nil || ready == nil {
			t.Fatalf("served before there was a good pair; ready: %v", ready)
		}
		return
	}
	newest := good[len(good)-1]
	// No caller is checked here: a leaf counts as trusted when it was read.
	sure, left := min(maxPace, now.Sub(newest.firstSeen), newest.until.Sub(now)), good[at].until.Sub(now)
	if at < len(good)-1 && sure >= min(maxPace, left) {
		t.Fatalf("a pair with %s left is served although another is sure for %s", left, sure)
	}
	if valid := !now.After(good[at].until); (ready == nil) != valid {
		t.Fatalf("served is valid %t, ready: %v", valid, ready)
	}
	wantTrouble := !usable || now.After(newest.until)
	if m.problem == nil == wantTrouble || wantTrouble && ready != nil && !strings.Contains(ready.Error(), m.problem.Error()) {
		t.Fatalf("trouble %v, want some %t; ready: %v", m.problem, wantTrouble, ready)
	}
}
