package activity

import (
	"strings"
	"time"
)

const (
	// shortWindow is the time within which short connections are counted. The kernel shows a connection for that long after its end.
	shortWindow = time.Minute
	// rare is how many of one client within that time are no use: a probe each ten seconds, and a little more.
	rare = 7
)

// shortOnes are the connections that are too short to be use by themselves. Many of one client in a row are: each request of a
// browser or a proxy may be a connection of its own (W106).
type shortOnes struct {
	begun bool
	// seen is when each was first seen.
	seen map[shortOne]time.Duration
}

type shortOne struct {
	port   uint16
	client string // its address and port
}

// often takes a sample. It reports whether a client connects so often that somebody uses the Workspace, and when one last did. The
// kubelet's own probes are so many a minute, from any one address.
func (o *shortOnes) often(s Sample, probes int) (last time.Duration, yes bool) {
	now := map[shortOne]time.Duration{}
	for one, first := range o.seen {
		if s.At-first < shortWindow {
			now[one] = first
		}
	}
	for _, socket := range s.Sockets {
		one := shortOne{socket.Port, socket.Remote}
		if _, known := now[one]; socket.Listens || known {
			continue
		}
		if first, known := o.seen[one]; known {
			now[one] = first // it is still shown
		} else if o.begun {
			now[one] = s.At
		} else {
			now[one] = s.At - shortWindow // of the time before
		}
	}
	o.begun, o.seen = true, now
	most, second := 0, 0
	for _, c := range clientsOf(now, s.At) {
		most, second = max(most, c.count), max(second, min(most, c.count))
		if c.count > rare {
			last = max(last, c.last)
		}
	}
	return last, most > rare+probes || second > rare
}

// client is how often one address has connected within the window, and when last.
type client struct {
	count int
	last  time.Duration
}

func clientsOf(seen map[shortOne]time.Duration, at time.Duration) map[string]client {
	clients := map[string]client{}
	for one, first := range seen {
		if at-first < shortWindow {
			address, _, _ := strings.Cut(one.client, ":")
			known := clients[address]
			clients[address] = client{known.count + 1, max(known.last, first)}
		}
	}
	return clients
}
