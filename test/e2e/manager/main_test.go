// Package manager runs the built manager against a real API server and checks what it serves, which permissions it
// needs, and how many requests it sends.
package manager

import (
	"context"
	"testing"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

var installation *fixtures.Installation

func TestMain(m *testing.M) {
	harness.RunTests(m, func(ctx context.Context, s *harness.Suite) error {
		cluster, err := s.Start(ctx, harness.ExternalMetrics, harness.AuditLog)
		if err != nil {
			return err
		}
		s.AtEnd(cluster.NothingForbidden)
		installation, err = fixtures.Install(ctx, cluster, s.Dir)
		return err
	})
}

// scenario is one test's namespace.
type scenario struct{ *fixtures.Scaling }

func newScenario(t *testing.T) *scenario { return &scenario{fixtures.NewScaling(t, installation)} }
