// Package endpoints decides which hosts the manager calls. The Secret of a store names any URL, and the manager has another place in
// the network than the tenant who wrote it (W62).
package endpoints

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
)

// Policy says which endpoints are allowed. The zero value allows all but those that Refused describes.
type Policy struct {
	rules    []rule
	loopback bool
}

// Local also allows this machine's own addresses, as --archive-loopback does.
var Local = Policy{loopback: true}

// rule allows a host, with a port if it is not empty, or addresses.
type rule struct {
	host, port string
	addresses  netip.Prefix
}

// Parse returns the policy of the flags --archive-endpoints and --archive-loopback.
func Parse(list []string, loopback bool) (Policy, error) {
	p := Policy{loopback: loopback}
	for _, entry := range list {
		parsed, err := parse(strings.ToLower(strings.TrimSpace(entry)))
		if err != nil {
			return Policy{}, fmt.Errorf("--archive-endpoints: %q: %w", entry, err)
		}
		p.rules = append(p.rules, parsed)
	}
	return p, nil
}

var errForm = errors.New("must be a host such as s3.example.com or *.example.com, HOST:PORT, an address, or a range of addresses such as 10.1.0.0/16")

func parse(entry string) (rule, error) {
	if prefix, err := netip.ParsePrefix(entry); err == nil {
		if prefix != prefix.Masked() {
			return rule{}, fmt.Errorf("the range begins at %s", prefix.Masked())
		}
		return rule{addresses: prefix}, nil
	}
	if address, err := netip.ParseAddr(entry); err == nil {
		address = address.Unmap()
		return rule{addresses: netip.PrefixFrom(address, address.BitLen())}, nil
	}
	host, port := entry, ""
	if strings.Contains(entry, ":") {
		var err error
		if host, port, err = net.SplitHostPort(entry); err != nil {
			return rule{}, errForm
		}
		if _, err = strconv.ParseUint(port, 10, 16); err != nil {
			return rule{}, errForm
		}
	}
	if name := strings.TrimPrefix(host, "*."); name == "" || strings.Trim(name, ".") != name || strings.ContainsAny(name, "*/@? ") {
		return rule{}, errForm
	}
	return rule{host: host, port: port}, nil
}

// Refused is the error for an endpoint that is not allowed. It says what an administrator can do.
type Refused struct{ what, remedy string }

// Error implements error. It names the key of the Secret.
func (r *Refused) Error() string {
	return "endpoint: the manager does not call " + r.what + "; " + r.remedy
}

// RetryableError tells the S3 client that repeating the call does not help.
func (r *Refused) RetryableError() bool { return false }

const (
	listed   = "an administrator can allow it with --archive-endpoints"
	nothing  = "name another store"
	oneHost  = "on a cluster of one machine, an administrator can allow it with --archive-loopback"
	noLookup = "an administrator can allow it by its name with --archive-endpoints"
)

// Restrict checks an endpoint without a call, and makes transport check each address that it connects to: a name may lead
// anywhere, and elsewhere the next time. A proxy from the environment is the administrator's and not checked; it finds the
// address itself, so that only the host of the endpoint is checked here. called is what is called: the endpoint, or a name below
// its own.
func (p Policy) Restrict(transport *http.Transport, endpoint, called *url.URL) error {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: called})
	if err != nil {
		return fmt.Errorf("endpoint: the manager's proxy: %w", err)
	}
	return p.restrict(transport, endpoint, proxy)
}

func (p Policy) restrict(transport *http.Transport, endpoint, proxy *url.URL) error {
	byName, err := p.check(endpoint)
	switch {
	case err != nil:
		return err
	case proxy != nil && !byName:
		return &Refused{endpoint.Hostname() + " through a proxy, which finds its address", noLookup}
	case proxy != nil:
		transport.Proxy = http.ProxyURL(proxy)
		return nil
	}
	transport.Proxy = nil
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		return p.connect(address, byName)
	}}
	transport.DialContext = dialer.DialContext
	return nil
}

// check checks the host of an endpoint. byName: the host is allowed, if its address is not refused; otherwise its address must be in a
// range that is allowed.
func (p Policy) check(endpoint *url.URL) (byName bool, err error) {
	host := strings.TrimSuffix(strings.ToLower(endpoint.Hostname()), ".")
	address, failed := netip.ParseAddr(host)
	literal := failed == nil
	if literal {
		if err := p.refuse(address); err != nil {
			return false, err
		}
	}
	ranges := false
	for _, each := range p.rules {
		if each.allows(host, portOf(endpoint)) || literal && each.contains(address) {
			return true, nil
		}
		ranges = ranges || each.addresses.IsValid()
	}
	if len(p.rules) == 0 {
		return true, nil
	}
	if literal || !ranges {
		return false, &Refused{endpoint.Host, listed}
	}
	return false, nil
}

// connect checks an address before a connection to it.
func (p Policy) connect(address string, byName bool) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &Refused{address, nothing} // such as a Unix socket
	}
	if err := p.refuse(to.Addr()); err != nil || byName {
		return err
	}
	for _, each := range p.rules {
		if each.contains(to.Addr()) {
			return nil
		}
	}
	return &Refused{to.Addr().String(), listed}
}

func (p Policy) refuse(address netip.Addr) error {
	kind := kindOf(address)
	if kind == "" && !p.loopback && isOwn(address) {
		kind = loopback
	}
	switch {
	case kind == "", kind == loopback && p.loopback:
		return nil
	case kind == loopback:
		return &Refused{fmt.Sprintf("%s, %s", address, kind), oneHost}
	default:
		return &Refused{fmt.Sprintf("%s, %s", address, kind), nothing}
	}
}

func (r rule) allows(host, port string) bool {
	if r.host == "" || r.port != "" && r.port != port {
		return false
	}
	domain, wild := strings.CutPrefix(r.host, "*")
	return host == r.host || wild && strings.HasSuffix(host, domain) && len(host) > len(domain)
}

func (r rule) contains(address netip.Addr) bool {
	return r.addresses.IsValid() && r.addresses.Contains(address.Unmap().WithZone(""))
}

func portOf(endpoint *url.URL) string {
	switch port := endpoint.Port(); {
	case port != "":
		return port
	case endpoint.Scheme == "http":
		return "80"
	default:
		return "443"
	}
}
