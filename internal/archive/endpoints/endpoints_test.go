package endpoints

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for entry, says := range map[string]string{
		"s3.example.com": "", "*.example.com": "", "S3.Example.com:9000": "", "10.1.0.0/16": "", "10.1.2.3": "", "fd00::/8": "", "[fd00::1]:9000": "", "minio": "",
		"":                       "must be a host",
		"https://s3.example.com": "must be a host",
		"s3.*.com":               "must be a host",
		"*":                      "must be a host",
		"*.":                     "must be a host",
		"s3.example.com:":        "must be a host",
		"s3.example.com/homes":   "must be a host",
		"me@s3.example.com":      "must be a host",
		"10.1.2.3/16":            "the range begins at 10.1.0.0/16",
	} {
		_, err := Parse([]string{entry}, false)
		if (err == nil) != (says == "") || err != nil && (!strings.HasPrefix(err.Error(), "--archive-endpoints: ") || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v, want %q", entry, err, says)
		}
	}
}

func TestKinds(t *testing.T) {
	for kind, addresses := range map[string][]string{
		"": {
			"10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "8.8.8.8", "fd00::1", "2606:4700::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1",
		},
		loopback: {
			"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::",
		},
		linkLocal: {"169.254.1.1", "fe80::1", "fe80::1%eth0", "febf::1", "::ffff:169.254.1.1", "2002:a9fe:101::1"},
		metadata:  {"169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "169.254.170.2", "192.0.0.192", "fd00:42::42", "fd00:c1::a9fe:a9fe"},
		nobody:    {"0.0.0.0", "0.1.2.3", "::", "224.0.0.1", "239.1.1.1", "ff02::1", "255.255.255.255", "64:ff9b::"},
	} {
		for _, address := range addresses {
			if got := kindOf(netip.MustParseAddr(address)); got != kind {
				t.Errorf("%s: %q, want %q", address, got, kind)
			}
		}
	}
}

// However an address of IPv4 is written as one of IPv6, it is refused as the original is.
func TestNoFormGetsAround(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		original := [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(rt, "address"))
		if rapid.Bool().Draw(rt, "refused") {
			original = netip.MustParseAddr(rapid.SampledFrom([]string{"127.0.0.1", "169.254.169.254", "169.254.0.9", "224.1.1.1"}).Draw(rt, "of")).As4()
		}
		want := kindOf(netip.AddrFrom4(original))
		for _, form := range append(embedding[1:], embedding[0]) { // ::a.b.c.d is ::1, too
			bytes := form.ranges.Addr().As16()
			copy(bytes[form.at:], original[:])
			if got := kindOf(netip.AddrFrom16(bytes)); got != want && netip.AddrFrom16(bytes) != netip.IPv6Loopback() && !netip.AddrFrom16(bytes).IsUnspecified() {
				rt.Fatalf("%s: %q, want %q", netip.AddrFrom16(bytes), got, want)
			}
		}
		if got := kindOf(netip.AddrFrom16(netip.AddrFrom4(original).As16())); got != want {
			rt.Fatalf("mapped: %q, want %q", got, want)
		}
	})
}

// What is decided about an endpoint without a call, and when an address of it is known.
func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		list     string
		loopback bool
		endpoint string
		says     string // before a call
		address  string
		then     string // before a connection to address
	}{
		{"", false, "https://s3.example.com", "", "10.0.0.1:443", ""},
		{"", false, "https://s3.example.com", "", "127.0.0.1:443", "endpoint: the manager does not call 127.0.0.1, an address of the manager's own machine; on a cluster of one machine, an administrator can allow it with --archive-loopback"},
		{"", true, "https://s3.example.com", "", "127.0.0.1:443", ""},
		{"", true, "https://s3.example.com", "", "[fe80::1%eth0]:443", "endpoint: the manager does not call fe80::1%eth0, a link-local address; name another store"},
		{"", false, "http://127.0.0.1:9000", "--archive-loopback", "", ""},
		{"", true, "http://127.0.0.1:9000", "", "127.0.0.1:9000", ""},
		{"", false, "http://[::ffff:169.254.169.254]", "an address of the cloud's metadata", "", ""},
		{"", true, "http://169.254.169.254/", "an address of the cloud's metadata", "", ""},
		{"", false, "http://2130706433", "", "127.0.0.1:80", "--archive-loopback"},
		{"", false, "http://localhost", "", "[::1]:80", "--archive-loopback"},
		{"s3.example.com", false, "https://s3.example.com", "", "10.0.0.1:443", ""},
		{"s3.example.com", false, "https://S3.EXAMPLE.COM.", "", "10.0.0.1:443", ""},
		{"s3.example.com", false, "https://s3.example.com", "", "169.254.169.254:443", "metadata"},
		{"s3.example.com", false, "https://s3.example.org", "endpoint: the manager does not call s3.example.org; an administrator can allow it with --archive-endpoints", "", ""},
		{"s3.example.com", false, "https://x.s3.example.com", "--archive-endpoints", "", ""},
		{"*.example.com", false, "https://s3.eu.example.com", "", "10.0.0.1:443", ""},
		{"*.example.com", false, "https://example.com", "--archive-endpoints", "", ""},
		{"*.example.com", false, "https://badexample.com", "--archive-endpoints", "", ""},
		{"minio:9000", false, "http://minio:9000", "", "10.0.0.1:9000", ""},
		{"minio:9000", false, "http://minio:6443", "--archive-endpoints", "", ""},
		{"minio:443", false, "https://minio", "", "10.0.0.1:443", ""},
		{"minio:80", false, "http://minio", "", "10.0.0.1:80", ""},
		{"10.1.0.0/16", false, "http://10.1.2.3:9000", "", "10.1.2.3:9000", ""},
		{"10.1.0.0/16", false, "http://[::ffff:10.1.2.3]:9000", "", "10.1.2.3:9000", ""},
		{"10.1.0.0/16", false, "http://10.2.0.1", "--archive-endpoints", "", ""},
		{"10.1.0.0/16", false, "https://s3.example.com", "", "10.1.2.3:443", ""},
		{"10.1.0.0/16", false, "https://s3.example.com", "", "10.2.0.1:443", "endpoint: the manager does not call 10.2.0.1; an administrator can allow it with --archive-endpoints"},
		{"0.0.0.0/0,::/0", false, "https://s3.example.com", "", "127.0.0.1:443", "--archive-loopback"},
		{"10.1.2.3", false, "https://10.1.2.3", "", "10.1.2.3:443", ""},
		{"", false, "https://s3.example.com", "", "/run/socket", "does not call"},
	} {
		policy, err := Parse(strings.FieldsFunc(tc.list, func(r rune) bool { return r == ',' }), tc.loopback)
		if err != nil {
			t.Fatal(err)
		}
		endpoint, err := url.Parse(tc.endpoint)
		if err != nil {
			t.Fatal(err)
		}
		byName, err := policy.check(endpoint)
		expect(t, tc.list+" "+tc.endpoint, err, tc.says)
		if tc.address != "" {
			expect(t, tc.list+" "+tc.endpoint+" at "+tc.address, policy.connect(tc.address, byName), tc.then)
		}
	}
}

func expect(t *testing.T, what string, err error, says string) {
	t.Helper()
	_, refused := errors.AsType[*Refused](err)
	if refused != (says != "") || err != nil && !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %v, want %q", what, err, says)
	}
}

// This machine has other addresses than those of its loopback interface; they lead to the same processes.
func TestTheMachinesOwnAddresses(t *testing.T) {
	original := ownAddresses
	t.Cleanup(func() { ownAddresses = original })
	ownAddresses = func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("10.1.2.3"), Mask: net.CIDRMask(16, 32)}, &net.IPNet{IP: net.ParseIP("fd00::7"), Mask: net.CIDRMask(64, 128)}}, nil
	}
	for address, says := range map[string]string{
		"10.1.2.3:8081":          "the manager does not call 10.1.2.3, an address of the manager's own machine; on a cluster of one machine",
		"[::ffff:10.1.2.3]:8081": loopback,
		"[64:ff9b::a01:203]:80":  loopback,
		"[fd00::7]:9443":         loopback,
		"10.1.2.4:9000":          "",
	} {
		expect(t, address, Policy{}.connect(address, true), says)
		expect(t, address+" with --archive-loopback", Local.connect(address, true), "")
	}
	ownAddresses = func() ([]net.Addr, error) { return nil, errors.New("not permitted") }
	expect(t, "unknown", Policy{}.connect("10.1.2.3:80", true), "")
}

// A proxy is the administrator's. It finds the addresses, so only names count.
func TestProxies(t *testing.T) {
	proxy := &url.URL{Scheme: "http", Host: "127.0.0.1:3128"}
	for _, tc := range []struct{ list, endpoint, says string }{
		{"", "https://s3.example.com", ""},
		{"", "http://169.254.169.254", "metadata"},
		{"s3.example.com", "https://s3.example.com", ""},
		{"10.0.0.0/8", "https://s3.example.com", "endpoint: the manager does not call s3.example.com through a proxy, which finds its address; an administrator can allow it by its name with --archive-endpoints"},
	} {
		policy, err := Parse(strings.Fields(tc.list), false)
		if err != nil {
			t.Fatal(err)
		}
		endpoint, err := url.Parse(tc.endpoint)
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{}
		expect(t, tc.list+" "+tc.endpoint, policy.restrict(transport, endpoint, proxy), tc.says)
		if tc.says != "" {
			continue
		}
		if used, err := transport.Proxy(&http.Request{URL: endpoint}); err != nil || used != proxy || transport.DialContext != nil {
			t.Errorf("%s: through %v, %v", tc.endpoint, used, err)
		}
	}
}

// Nothing is connected to what is refused, although its name is allowed: the first connection is another one.
func TestARefusedAddressIsNeverConnectedTo(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	endpoint := &url.URL{Scheme: "http", Host: net.JoinHostPort("localhost", port)}
	policy, err := Parse([]string{"localhost"}, false)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	if err := policy.Restrict(transport, endpoint, endpoint); err != nil {
		t.Fatal(err)
	}
	_, err = (&http.Client{Transport: transport}).Get(endpoint.String()) //nolint:bodyclose,noctx // there is no answer
	expect(t, "localhost", err, "--archive-loopback")
	if err := Local.Restrict(transport, endpoint, endpoint); err != nil {
		t.Fatal(err)
	}
	allowed, err := transport.DialContext(t.Context(), "tcp", endpoint.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = allowed.Close() }()
	first, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	if first.RemoteAddr().String() != allowed.LocalAddr().String() {
		t.Errorf("a connection came from %s", first.RemoteAddr())
	}
}
