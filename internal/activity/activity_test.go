package activity_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/activity"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func lease(renewed time.Time, owners ...metav1.OwnerReference) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{OwnerReferences: owners},
		Spec:       coordinationv1.LeaseSpec{RenewTime: ptr.To(metav1.NewMicroTime(renewed))},
	}
}

func TestActivityOfALease(t *testing.T) {
	ann := activity.Workspace{UID: "ann", Created: noon.Add(-time.Hour)}
	minute, earlier := noon.Add(-time.Minute), noon.Add(-30*time.Minute)
	late := noon.Add(time.Hour)
	for name, test := range map[string]struct {
		before activity.Seen
		lease  *coordinationv1.Lease
		want   time.Time
	}{
		"none":                         {lease: nil},
		"one without a time":           {lease: &coordinationv1.Lease{}},
		"a heartbeat":                  {lease: lease(minute), want: minute},
		"of this very moment":          {lease: lease(noon), want: noon},
		"a later one":                  {before: activity.Seen{Renewed: earlier, Activity: earlier}, lease: lease(minute), want: minute},
		"one that was taken back":      {before: activity.Seen{Renewed: minute, Activity: minute}, lease: lease(earlier), want: earlier},
		"its own":                      {lease: lease(minute, metav1.OwnerReference{Kind: "Workspace", UID: "ann"}), want: minute},
		"somebody else's":              {lease: lease(minute, metav1.OwnerReference{Kind: "Pod", UID: "x"}), want: minute},
		"D15: of an earlier Workspace": {lease: lease(minute, metav1.OwnerReference{Kind: "Workspace", UID: "old"})},
		"D15: from before it was made": {lease: lease(noon.Add(-2 * time.Hour))},
		"a clock that is ahead":        {lease: lease(late), want: noon},
		"and is still the same":        {before: activity.Seen{Renewed: late, Activity: minute}, lease: lease(late), want: minute},
		"and beats again":              {before: activity.Seen{Renewed: late, Activity: minute}, lease: lease(late.Add(time.Second)), want: noon},
	} {
		if got := test.before.Read(test.lease, ann, noon); !got.Activity.Equal(test.want) {
			t.Errorf("%s: %v, want %v", name, got.Activity, test.want)
		}
	}
}

// The creationTimestamp is the API server's, whose clock may have been ahead.
func TestAWorkspaceCreatedInTheFuture(t *testing.T) {
	for _, ahead := range []time.Duration{time.Second, 24 * time.Hour} {
		of := activity.Workspace{Created: noon.Add(ahead)}
		if got := (activity.Seen{}).Read(lease(noon), of, noon); !got.Activity.Equal(noon) {
			t.Errorf("created %s from now: %v", ahead, got.Activity)
		}
	}
}

// For any clocks: activity is never in the future, and a Lease that is not renewed keeps its result,
// even after its renewTime has passed.
func TestAnUnrenewedLeaseIsNotActivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := activity.Workspace{Created: noon}
		minutes := rapid.IntRange(0, 120)
		now := noon.Add(time.Duration(minutes.Draw(t, "first read")) * time.Minute)
		beat := lease(noon.Add(time.Duration(minutes.Draw(t, "beat")) * time.Minute))
		first := activity.Seen{}.Read(beat, of, now)
		if first.Activity.IsZero() || first.Activity.After(now) {
			t.Fatalf("activity %v at %v", first.Activity, now)
		}
		for seen := first; rapid.Bool().Draw(t, "again"); {
			now = now.Add(time.Duration(minutes.Draw(t, "wait")) * time.Minute)
			if seen = seen.Read(beat, of, now); !seen.Activity.Equal(first.Activity) {
				t.Fatalf("activity moved from %v to %v", first.Activity, seen.Activity)
			}
		}
	})
}

func TestBeat(t *testing.T) {
	got := activity.Beat("team", "ann", "proxy", noon)
	want := []string{"team", "ws-ann-activity", "proxy", noon.String()}
	if diff := cmp.Diff(want, []string{*got.Namespace, *got.Name, *got.Spec.HolderIdentity, got.Spec.RenewTime.String()}); diff != "" {
		t.Error(diff)
	}
}

// tables are lines of Linux, with a listener, a connection to port 8080, one that is closing, and one
// from here to port 8080 elsewhere.
const tables = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 0100007F:1F90 0100007F:D2F0 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 20 4 30 10 -1
   2: 0100007F:1F90 0100007F:D2F2 08 00000000:00000000 00:00000000 00000000  1000        0 3 1 0 20 4 30 10 -1
   3: 0100007F:D2F4 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 4 1 0 20 4 30 10 -1
   4: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:D2F6 01 00000000:00000000 00:00000000 00000000  1000        0 5 1 0 20 4 30 10 -1
`

// connections counts the open connections to a local port in a table.
func connections(table io.Reader, port uint16) (count int, err error) {
	all, err := activity.Sockets(table, port)
	for _, socket := range all {
		if !socket.Listens && !socket.Ended {
			count++
		}
	}
	return count, err
}

func TestConnections(t *testing.T) {
	for port, want := range map[uint16]int{8080: 2, 54004: 1, 80: 0} {
		if got, err := connections(strings.NewReader(tables), port); got != want || err != nil {
			t.Errorf("port %d: %d, %v, want %d", port, got, err, want)
		}
	}
	if _, err := connections(strings.NewReader("0: what:ever 0:0 01"), 80); err == nil {
		t.Error("an address that is none passes")
	}
	if _, err := connections(iotest.ErrReader(errors.New("gone")), 80); err == nil {
		t.Error("a table that cannot be read passes")
	}
}

// The real tables of this Linux can be parsed.
func TestRealConnections(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc/net/tcp")
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := uint16(listener.Addr().(*net.TCPAddr).Port)
	count := func() string {
		table, err := os.Open("/proc/net/tcp")
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		n, err := connections(table, port)
		return fmt.Sprint(n, err)
	}
	before := count()
	connection, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if after := count(); before != "0 <nil>" || after != "1 <nil>" {
		t.Errorf("%s connections before, %s with one", before, after)
	}
}
