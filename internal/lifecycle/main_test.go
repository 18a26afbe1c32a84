package lifecycle_test

import (
	"flag"
	"os"
	"testing"
)

// Every run has the same histories, so that without a change the result is the same; -rapid.seed=N runs others.
func TestMain(m *testing.M) {
	flag.Parse()
	if seed := flag.Lookup("rapid.seed").Value; seed.String() == "0" {
		if err := seed.Set("1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
