package endpoints

import (
	"net"
	"net/netip"
	"time"
)

// As in the transport that they replace.
const (
	dialTimeout = 30 * time.Second
	keepAlive   = 30 * time.Second
)

// The kinds of addresses at which no store is.
const (
	loopback  = "an address of the manager's own machine"
	linkLocal = "a link-local address"
	nobody    = "an address of no host"
	metadata  = "an address of the cloud's metadata"
)

// kinds are ranges that are refused. Other private addresses are not: many stores are in the cluster's network.
var kinds = []struct {
	kind   string
	ranges []netip.Prefix
}{
	{loopback, prefixes("127.0.0.0/8", "::1/128")},
	{metadata, prefixes("169.254.169.254/32", "169.254.170.0/24", "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32",
		"fd00:ec2::/32", "fd20:ce::254/128", "fd00:42::42/128", "fd00:c1::a9fe:a9fe/128")},
	{linkLocal, prefixes("169.254.0.0/16", "fe80::/10")},
	{nobody, prefixes("0.0.0.0/8", "::/128", "224.0.0.0/4", "ff00::/8", "255.255.255.255/32")},
}

// embedding are the ranges whose addresses contain one of IPv4, and where.
var embedding = []struct {
	ranges netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // IPv4-translated
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // NAT64, of a network
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
}

func prefixes(list ...string) (all []netip.Prefix) {
	for _, each := range list {
		all = append(all, netip.MustParsePrefix(each))
	}
	return all
}

// kindOf returns why an address is refused; "" if it is not.
func kindOf(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	for _, each := range kinds {
		for _, prefix := range each.ranges {
			if prefix.Contains(address) {
				return each.kind
			}
		}
	}
	if within, ok := embedded(address); ok {
		return kindOf(within)
	}
	return ""
}

// embedded returns the address of IPv4 in one of IPv6.
func embedded(address netip.Addr) (within netip.Addr, ok bool) {
	for _, each := range embedding {
		if bytes := address.AsSlice(); each.ranges.Contains(address) {
			return netip.AddrFrom4([4]byte(bytes[each.at : each.at+4])), true
		}
	}
	return within, false
}

// ownAddresses are those of the machine's interfaces; tests replace it.
var ownAddresses = net.InterfaceAddrs

// isOwn reports whether an address is one of an interface of this machine. It leads to what the loopback address leads to.
func isOwn(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	own, err := ownAddresses()
	if err != nil {
		return false // not permitted: nothing is known
	}
	within, _ := embedded(address)
	for _, each := range own {
		prefix, err := netip.ParsePrefix(each.String())
		if is := prefix.Addr().Unmap(); err == nil && (is == address || is == within) {
			return true
		}
	}
	return false
}
