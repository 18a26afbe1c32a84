package workspaces

import (
	"errors"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// W108: what the library would log becomes a sentence, and shows nothing that could manipulate a terminal.
func TestComplaints(t *testing.T) {
	for said, want := range map[string]string{
		"": "the connection was lost",
		"failed to connect to localhost:8080: dial tcp4 127.0.0.1:8080: connect: connection refused": "nothing listens on port 8080 of the Workspace, or not yet",
		"no \x1b[2J network": `An error occurred forwarding: no \x1b[2J network`,
	} {
		connections := &complaints{port: 8080}
		logger := klog.FromContext(klog.NewContext(t.Context(), logr.New(connections)))
		logger.Info("nobody reads this")
		if said != "" {
			runtime.HandleErrorWithLogger(logger, errors.New(said), "An error occurred forwarding", "localPort", 18080)
		}
		if got := connections.lost().Error(); got != want {
			t.Errorf("%q is told as %q, want %q", said, got, want)
		}
	}
}
