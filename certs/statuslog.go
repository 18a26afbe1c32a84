package certs

import (
	"crypto/tls"
	"time"

	"github.com/go-logr/logr"
)

// repeatInterval is how often a lasting problem is logged.
const repeatInterval = time.Minute

// statusLogger logs changes, and lasting problems now and then.
type statusLogger struct {
	served, waiting *tls.Certificate
	problem         string
	at              time.Time // of the last log entry about problem
}

// log logs the state: served is presented now, good is the newest usable certificate, problem is about the files.
func (l *statusLogger) log(log logr.Logger, served, good *tls.Certificate, problem error, now time.Time) {
	if served != l.served {
		l.served = served
		log.Info("Serving the mounted certificate", "notAfter", served.Leaf.NotAfter.UTC(), "serial", served.Leaf.SerialNumber.String())
	}
	if good != served && good != l.waiting {
		l.waiting = good
		log.Info("Waiting until the API servers trust the new certificate", "notAfter", good.Leaf.NotAfter.UTC(), "serial", good.Leaf.SerialNumber.String())
	}
	text := ""
	if problem != nil {
		text = problem.Error()
	}
	switch {
	case text == "" && l.problem != "":
		log.Info("The mounted certificate files are valid again")
		l.problem = ""
	case text != "" && (text != l.problem || now.Sub(l.at).Abs() >= repeatInterval):
		l.problem, l.at = text, now
		log.Error(problem, "Cannot use the mounted certificate files; retrying", "serving", served != nil)
	}
}
