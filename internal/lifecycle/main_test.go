package lifecycle_test

import (
	"flag"
	"os"
	"testing"
)

// Every run sees the same histories, so that who changed nothing sees nothing new; -rapid.seed=N shows others.
func TestMain(m *testing.M) {
	flag.Parse()
	if seed := flag.Lookup("rapid.seed").Value; seed.String() == "0" {
		if err := seed.Set("1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
