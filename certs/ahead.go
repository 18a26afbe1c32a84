package certs

import (
	"context"
	"crypto/x509"
	"errors"
	"sync"
	"time"

	cmtls "github.com/cert-manager/cert-manager/pkg/server/tls"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// mostAhead is how long before its time a certificate may have been made: the clocks of replicas differ. One
// that is further ahead is of a clock that has been set back since, and would be refused until the time has come.
const mostAhead = 5 * time.Minute

// takeBackPace is how often at most a CA is taken back: a replica whose clock stays months ahead makes another one
// each time, and all of them are published until they expire.
const takeBackPace = time.Hour

func isAhead(cert *x509.Certificate, now time.Time) bool { return cert.NotBefore.Sub(now) > mostAhead }

// askable is an authority whose leaves can be asked for anew: whoever follows its CA is told that it was
// replaced.
type askable struct {
	cmtls.Authority

	mu        sync.Mutex
	followers []chan<- struct{}
}

// WatchRotation implements cmtls.Authority. The only follower there is stays until the end.
func (a *askable) WatchRotation(follower chan<- struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.followers = append(a.followers, follower)
	a.Authority.WatchRotation(follower)
}

// again has every follower sign anew.
func (a *askable) again() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, follower := range a.followers {
		select {
		case follower <- struct{}{}:
		default: // it is about to, anyway
		}
	}
}

// correct asks for another leaf if the newest is of a clock that was ahead.
func (s *SelfManaged) correct(now time.Time) {
	if newest := s.newest(); newest != nil && isAhead(newest.Leaf, now) {
		s.options.Log.Info("The serving certificate is of a clock that was ahead; another one is issued", "notBefore", newest.Leaf.NotBefore.UTC())
		s.authority.again()
	}
}

// takeBack empties the Secret of a CA that is of a clock that was ahead, so that the authority makes another.
func (p *publisher) takeBack(ctx context.Context, secret *corev1.Secret, now time.Time) {
	if age := now.Sub(p.takenBack); age >= 0 && age < takeBackPace {
		return // each resync looks again
	}
	p.takenBack = now
	secret = secret.DeepCopy()
	secret.Data[corev1.TLSCertKey] = []byte{}
	err := p.secret.api.Put().Namespace(secret.Namespace).Resource(p.secret.resource).Name(secret.Name).
		Param("fieldManager", fieldManager).Body(secret).Do(ctx).Error()
	switch {
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err) || errors.Is(err, context.Canceled):
	case err != nil:
		p.takenBack = time.Time{}
		p.log.Error(err, "Cannot replace the webhook CA, which is of a clock that was ahead; will try again", "secret", secret.Name)
	default:
		p.log.Info("Replaced the webhook CA, which was of a clock that was ahead", "secret", secret.Name)
	}
}
