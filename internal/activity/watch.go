package activity

import "time"

// leastRun is how long each run but the first lasts: ten minutes after the last restart, the kubelet restarts without a delay.
const leastRun = 11 * time.Minute

// tooSlow is the least time between two looks in which something may have gone unseen that matters.
const tooSlow = 5 * time.Second

// Watch decides from samples whether a Workspace is in use (W80). Times are since any moment, by a clock that is not set.
type Watch struct {
	// Ports are those to which somebody may be connected; none means that connections do not count.
	Ports []uint16
	// CPUPercent of one CPU is what the processes may need without being in use; 0 means that CPU does not count.
	CPUPercent int
	// Lasts is how long a use counts.
	Lasts time.Duration
	// IgnoreShorter is how long a connection must have been open to count by itself. The kubelet's probes are shorter.
	IgnoreShorter time.Duration
	// Probes is how many connections a minute the kubelet's own probes make.
	Probes int

	// State is what the run before has said, or kept; "" if nothing is known. First: there was no run before.
	State State
	First bool

	begun bool
	begin time.Duration
	last  time.Duration // the last look
	used  time.Duration // the last use, or the begin
	ever  bool          // there was a use in this run
	blind time.Duration // when nothing could be known, or the begin: nobody is idle since before
	heard time.Duration // when something last listened, or the begin
	since map[Socket]time.Duration
	short shortOnes
	cpu   cpuSample // where the current average begins
}

type cpuSample struct{ at, used time.Duration }

// Sample is what is seen at one moment.
type Sample struct {
	At time.Duration
	// Sockets are the connections to the ports, also those that have just ended, and their listeners.
	Sockets []Socket
	// CPU is what all processes have used so far. It falls when some of them end.
	CPU time.Duration
}

// Look takes a sample and returns what is known, and whether this run ends to say so. It is in use while somebody is connected, or
// was until Lasts ago, or the processes need CPU, or it has just started. While nothing listens on the ports, nobody can be
// connected: then, unless CPU counts, nothing tells. Only the end of a run is a word: a probe that fails may just be slow (W104).
// The return of a use needs none, since a probe that succeeds is not a mistake.
func (w *Watch) Look(s Sample) (state State, ends bool) {
	if !w.begun {
		w.begun, w.begin, w.last, w.used, w.heard, w.cpu = true, s.At, s.At, s.At, s.At, cpuSample{s.At, s.CPU}
		if w.State == "" {
			w.State = Used
		}
	}
	if s.At-w.last > max(w.Lasts/2, tooSlow) { // the node was too slow to look, and who came may have come again
		w.Blind(s.At)
	}
	w.last = s.At
	w.note(s)
	next := w.judge(s.At)
	if w.State == Idle && next == Used {
		w.State = Used
	}
	if next != w.State && w.maySay(s.At) {
		w.State = next
		return next, true
	}
	return w.State, false
}

// Blind notes that nothing could be seen at a moment: the Workspace must not be stopped for that.
func (w *Watch) Blind(at time.Duration) State {
	w.last, w.blind, w.heard = at, at, at
	if w.State == "" {
		return Used
	}
	return w.State
}

// Word is what the end of a run says.
func (w *Watch) Word(at time.Duration) Word {
	return Word{State: w.State, Unused: at - w.used, Ever: w.ever}
}

// note notes what the sample shows.
func (w *Watch) note(s Sample) {
	connected, listens := w.connected(s)
	if w.CPUPercent > 0 || listens {
		w.heard = s.At
	} else {
		w.blind = s.At
	}
	last, often := w.short.often(s, w.Probes)
	switch {
	case w.busy(s) || connected:
		w.used, w.ever = s.At, true
	case often:
		w.used, w.ever = max(w.used, last), true
	}
}

// judge is what could be said now.
func (w *Watch) judge(now time.Duration) State {
	switch {
	case now-w.heard >= w.Lasts, now > w.heard && w.State == Silent:
		return Silent
	case w.State == Idle && !w.ever:
		return Idle
	case now > w.heard || now-max(w.used, w.blind) < w.Lasts:
		return Used
	default:
		return Idle
	}
}

// maySay reports whether the run may end to say something. The kubelet starts the next one at once, unless the runs are short.
func (w *Watch) maySay(now time.Duration) bool {
	return now > w.begin && (w.First || now-w.begin >= leastRun)
}

// connected reports whether a connection has been open for long enough, and whether anything listens.
func (w *Watch) connected(s Sample) (connected, listens bool) {
	since := map[Socket]time.Duration{}
	for _, socket := range s.Sockets {
		switch {
		case socket.Listens:
			listens = true
			continue
		case socket.Ended:
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
