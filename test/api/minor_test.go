package api

import (
	"cmp"
	"os"
	"testing"

	"k8s.io/client-go/discovery"

	"kyklos.io/kyklos/test/harness"
)

// The tests run against the minor version that they are meant for: the devcluster's, or the one that make test-versions
// chooses.
func TestMinorVersion(t *testing.T) {
	want := cmp.Or(os.Getenv(harness.MinorVariable), "1.37")
	server, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	harness.Must(t, err)
	version, err := server.ServerVersion()
	harness.Must(t, err)
	if got := version.Major + "." + version.Minor; got != want {
		t.Errorf("the API server is %s, want %s", version.GitVersion, want)
	}
}
