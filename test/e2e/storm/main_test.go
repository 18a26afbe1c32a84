// Package storm measures how long many changes take that are due at the same instant, and what they cost, beside a bare client
// that sends the same writes. `make bench` runs it.
package storm

import (
	"context"
	"flag"
	"os"
	"testing"

	"kyklos.io/kyklos/test/bench"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

var (
	sizes  = bench.Counts("flips", nil, "how many changes are due at once, as 100,1000; empty measures nothing")
	rounds = flag.Int("rounds", 0, "how often the lateness of one change is measured; 0 does not measure it")
	// Other scalers, in another namespace.
	resting  = bench.Counts("resting", []int{0}, "how many rest meanwhile, as 0,10000")
	storming = bench.Counts("storming", []int{1000}, "how many change at the same instant")
)

var installation *fixtures.Installation

func TestMain(m *testing.M) {
	flag.Parse()
	if len(*sizes) == 0 && *rounds == 0 {
		os.Exit(m.Run())
	}
	harness.RunTests(m, func(ctx context.Context, s *harness.Suite) error {
		// Nothing else writes the targets or reads them.
		cluster, err := s.Start(ctx, "--kubelet=false", "--without=deployment-controller", "--without=replicaset-controller")
		if err != nil {
			return err
		}
		installation, err = fixtures.Install(ctx, cluster, s.Dir)
		return err
	})
}
