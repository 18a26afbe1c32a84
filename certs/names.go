package certs

import (
	"crypto/x509"
	"net"

	cmtls "github.com/cert-manager/cert-manager/pkg/server/tls"
)

// addressAuthority lets leaves name IP addresses. cert-manager's source puts
// every name into the certificate as a DNS name, where TLS clients do not look
// for an address; the authority signs any template, so the last step before it
// is the place to sort them.
type addressAuthority struct {
	cmtls.Authority
}

// Sign implements cmtls.Authority.
func (a addressAuthority) Sign(template *x509.Certificate) (*x509.Certificate, error) {
	template.DNSNames, template.IPAddresses = splitNames(template.DNSNames)
	return a.Authority.Sign(template)
}

// splitNames parts host names from literal IP addresses.
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
