package certs

import (
	"crypto/tls"
	"time"

	"github.com/go-logr/logr"
)

// retell is how often trouble that lasts is logged again.
const retell = time.Minute

// telling logs what changes, and what stays bad now and then.
type telling struct {
	served, waiting *tls.Certificate
	trouble         string
	at              time.Time // of the last word on trouble
}

// tell logs the state: served is presented now, good is the newest that could
// be, trouble is what is wrong with the files.
func (t *telling) tell(log logr.Logger, served, good *tls.Certificate, trouble error, now time.Time) {
	if served != t.served {
		t.served = served
		log.Info("Serving the mounted certificate", "notAfter", served.Leaf.NotAfter.UTC(), "serial", served.Leaf.SerialNumber.String())
	}
	if good != served && good != t.waiting {
		t.waiting = good
		log.Info("A new certificate waits until the API servers trust it", "notAfter", good.Leaf.NotAfter.UTC(), "serial", good.Leaf.SerialNumber.String())
	}
	switch text := message(trouble); {
	case text == "" && t.trouble != "":
		log.Info("The mounted files are good again")
		t.trouble = ""
	case text != "" && (text != t.trouble || now.Sub(t.at).Abs() >= retell):
		t.trouble, t.at = text, now
		log.Error(trouble, "Cannot use the mounted certificate, will look again", "serving", served != nil)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
