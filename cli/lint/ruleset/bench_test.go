package ruleset

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/test/bench"
)

// BenchmarkThousandManifests reads and checks 1,000 TimeWindowScalers with their targets and holidays in one namespace, all of what
// the command does but its start and the report.
func BenchmarkThousandManifests(b *testing.B) {
	sample, err := os.ReadFile("../../../config/samples/holidays.yaml")
	if err != nil {
		b.Fatal(err)
	}
	names := manifest.File{Name: "sample", Data: sample}
	objects, _ := manifest.Parse(&names)
	var all bytes.Buffer
	for i := range 1000 {
		text := sample
		for _, object := range objects {
			text = bytes.ReplaceAll(text, []byte("name: "+object.Name()+"\n"), fmt.Appendf(nil, "name: %s-%d\n", object.Name(), i))
		}
		all.WriteString("---\n")
		all.Write(text)
	}
	server, err := ownServer()
	if err != nil {
		b.Fatal(err)
	}
	before := spent(b)
	for b.Loop() {
		found, problems := manifest.Parse(&manifest.File{Name: "-", Data: all.Bytes()})
		result, err := Run(b.Context(), &manifest.Set{Objects: found}, Options{Server: server, Now: noon})
		if err != nil || len(problems) > 0 || len(result.Summary.Checked) != 1000 || len(result.Findings) > 0 {
			b.Fatal(err, len(problems), len(result.Summary.Checked), len(result.Findings))
		}
	}
	record := func(what string, took time.Duration, goal float64) {
		bench.Record(b, bench.Figure{Area: "lint", What: "validation and rules: " + what, Unit: "ms", Value: 1000 * took.Seconds() / float64(b.N), Goal: goal})
	}
	record("1,000 schedules, their targets and holidays", b.Elapsed(), 2000)
	record("1,000 schedules, their targets and holidays, CPU", spent(b)-before, 0)
}

// spent is the CPU time of this process.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
