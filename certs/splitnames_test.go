package certs

import (
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitNames(t *testing.T) {
	hosts, addresses := splitNames([]string{"kyklos-webhook.kyklos-system.svc", "127.0.0.1", "::1", "1.2.3"})
	if diff := cmp.Diff([]string{"kyklos-webhook.kyklos-system.svc", "1.2.3"}, hosts); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]net.IP{net.ParseIP("127.0.0.1"), net.ParseIP("::1")}, addresses); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}
