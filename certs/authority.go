package certs

import (
	"crypto/x509"
	"net"
	"sync"
	"time"

	cmtls "github.com/cert-manager/cert-manager/pkg/server/tls"
)

// maxAhead is how far in the future a certificate's NotBefore may be: the clocks of replicas differ. Beyond it, the
// certificate was issued by a clock that has been set back since, and would be refused until NotBefore.
const maxAhead = 5 * time.Minute

func isAhead(cert *x509.Certificate, now time.Time) bool { return cert.NotBefore.Sub(now) > maxAhead }

// reissuingAuthority can make its followers request a new leaf, by the signal for a rotated CA.
type reissuingAuthority struct {
	cmtls.Authority

	mu        sync.Mutex
	followers []chan<- struct{}
}

// WatchRotation implements cmtls.Authority. There is one follower, which never stops.
func (a *reissuingAuthority) WatchRotation(follower chan<- struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.followers = append(a.followers, follower)
	a.Authority.WatchRotation(follower)
}

// reissue makes every follower request a new leaf.
func (a *reissuingAuthority) reissue() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, follower := range a.followers {
		select {
		case follower <- struct{}{}:
		default: // a signal is already pending
		}
	}
}

// addressAuthority issues leaves for IP addresses. cert-manager's source puts every name into the certificate as a DNS
// name, which TLS clients do not check for an address.
type addressAuthority struct {
	cmtls.Authority
}

// Sign implements cmtls.Authority.
func (a addressAuthority) Sign(template *x509.Certificate) (*x509.Certificate, error) {
	template.DNSNames, template.IPAddresses = splitNames(template.DNSNames)
	return a.Authority.Sign(template)
}

// splitNames separates host names from IP addresses.
func splitNames(names []string) (hosts []string, addresses []net.IP) {
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			addresses = append(addresses, ip)
		} else {
			hosts = append(hosts, name)
		}
	}
	return hosts, addresses
}
