// Package storm measures how long many changes take that are due at the same instant, and what they cost, beside a bare client
// that sends the same writes. `make bench` runs it.
package storm

import (
	"context"
	"flag"
	"os"
	"testing"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

var (
	sizes  = flag.String("flips", "", "how many changes are due at once, as 100,1000; empty measures nothing")
	rounds = flag.Int("rounds", 0, "how often the lateness of one change is measured; 0 does not measure it")
	others = flag.String("others", "0", "how many other scalers rest meanwhile, as 0,10000")
)

var installation *fixtures.Installation

func TestMain(m *testing.M) {
	flag.Parse()
	if *sizes == "" && *rounds == 0 {
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
