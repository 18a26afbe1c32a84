package activity

import (
	"strings"
	"time"
)

// State is what a watcher knows of the use of a Workspace.
type State string

// The states.
const (
	// Used: it is in use, or nothing else has been said yet.
	Used State = "in use"
	// Idle: nobody has used it for a time.
	Idle State = "idle"
	// Silent: nothing listens on the ports, so nothing tells whether it is used.
	Silent State = "silent"
)

// Word is what a watcher says by the end of a run, in its termination message, which the kubelet reports (W104). The zero value
// says nothing.
type Word struct {
	State State
	// Unused is how long ago the last use ended when it was said, or the run began if there was none.
	Unused time.Duration
	// Ever: there was a use in this run.
	Ever bool
}

// The words. Those of Idle are followed by a time.
const (
	wordListens = "something listens"
	wordSilent  = "nothing listens"
	wordUsed    = "idle: last used "
	wordNever   = "idle: not used for "
	wordAgo     = " ago"
)

// String is the termination message.
func (w Word) String() string {
	switch {
	case w.State == Silent:
		return wordSilent
	case w.State == Used:
		return wordListens
	case w.State == Idle && w.Ever:
		return wordUsed + w.Unused.Truncate(time.Second).String() + wordAgo
	case w.State == Idle:
		return wordNever + w.Unused.Truncate(time.Second).String()
	}
	return ""
}

// ParseWord reads a termination message. One of somebody else, such as of a crash, says nothing.
func ParseWord(text string) Word {
	switch text = strings.TrimSpace(text); text {
	case wordSilent:
		return Word{State: Silent}
	case wordListens:
		return Word{State: Used}
	}
	for _, prefix := range []string{wordUsed, wordNever} {
		if rest, found := strings.CutPrefix(text, prefix); found {
			if unused, err := time.ParseDuration(strings.TrimSuffix(rest, wordAgo)); err == nil && unused >= 0 {
				return Word{State: Idle, Unused: unused, Ever: prefix == wordUsed}
			}
		}
	}
	return Word{}
}
