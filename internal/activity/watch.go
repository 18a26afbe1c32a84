package activity

import "time"

// NothingListens is what a watcher says by the end of a run, if nothing listens on the ports: nothing tells whether the
// Workspace is used.
const NothingListens = "nothing listens"

// Watch decides from samples whether a Workspace is in use (W80). Times are since any moment, by a clock that is not set.
type Watch struct {
	// Ports are those to which somebody may be connected; none means that connections do not count.
	Ports []uint16
	// CPUPercent of one CPU is what the processes may need without being in use; 0 means that CPU does not count.
	CPUPercent int
	// Lasts is how long a use counts.
	Lasts time.Duration
	// IgnoreShorter is how long a connection must have been open to count. The kubelet's probes are shorter.
	IgnoreShorter time.Duration

	// NothingListens: an earlier run said that nothing listens. First: there was none.
	NothingListens, First bool

	begun bool
	begin time.Duration
	used  time.Duration // the last use, or the begin
	heard time.Duration // when something last listened, or the begin
	since map[Socket]time.Duration
	cpu   cpuSample // where the current average begins
}

type cpuSample struct{ at, used time.Duration }

// Sample is what is seen at one moment.
type Sample struct {
	At time.Duration
	// Sockets are the connections to the ports and their listeners.
	Sockets []Socket
	// CPU is what all processes have used so far. It falls when some of them end.
	CPU time.Duration
}

// Used takes a sample and reports whether the Workspace is in use: somebody is connected, or was until Lasts ago; the
// processes need CPU; or it has just started. While nothing listens on the ports, nobody can be connected: then, unless CPU
// counts, nothing tells, and it counts as used.
func (w *Watch) Used(s Sample) bool {
	if !w.begun {
		w.begun, w.begin, w.used, w.heard, w.cpu = true, s.At, s.At, s.At, cpuSample{s.At, s.CPU}
	}
	connected, listens := w.connected(s)
	if listens {
		w.heard = s.At
	}
	busy := w.busy(s)
	if connected || busy || !listens && w.CPUPercent == 0 {
		w.used = s.At
	}
	return s.At-w.used < w.Lasts
}

// Turns reports whether, unlike in the run before, something listens on the ports now, or nothing for as long as a use lasts.
// Then this run ends, and says so by its end. The kubelet starts the next one at once, unless the runs are short.
func (w *Watch) Turns(s Sample) bool {
	switch run := s.At - w.begin; {
	case w.CPUPercent > 0 || !w.First && run < 2*w.Lasts:
		return false
	case w.NothingListens:
		return w.heard == s.At && run > 0
	default:
		return s.At-w.heard >= w.Lasts
	}
}

// connected reports whether a connection has been open for long enough, and whether anything listens.
func (w *Watch) connected(s Sample) (connected, listens bool) {
	since := map[Socket]time.Duration{}
	for _, socket := range s.Sockets {
		if socket.Listens {
			listens = true
			continue
		}
		first, known := w.since[socket]
		if !known {
			first = s.At
		}
		since[socket] = first
		connected = connected || known && s.At-first >= w.IgnoreShorter
	}
	w.since = since
	return connected, listens
}

// average is the time over which the use of CPU is measured.
func (w *Watch) average() time.Duration { return min(w.Lasts/5, time.Minute) }

// busy reports whether the processes have needed more than CPUPercent.
func (w *Watch) busy(s Sample) bool {
	elapsed := s.At - w.cpu.at
	if w.CPUPercent == 0 || elapsed < w.average() || elapsed <= 0 {
		return false
	}
	used := s.CPU - w.cpu.used
	w.cpu = cpuSample{s.At, s.CPU}
	return used*100 > elapsed*time.Duration(w.CPUPercent)
}
