package main

import (
	"math"
	"runtime"

	"github.com/prometheus/procfs"
)

func thisMachine() machine {
	m := machine{CPU: runtime.GOARCH, Cores: runtime.NumCPU()}
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return m
	}
	if cpus, err := proc.CPUInfo(); err == nil && len(cpus) > 0 && cpus[0].ModelName != "" {
		m.CPU = cpus[0].ModelName
	}
	if memory, err := proc.Meminfo(); err == nil && memory.MemTotalBytes != nil {
		m.MemoryGB = int(math.Round(float64(*memory.MemTotalBytes) / 1e9))
	}
	return m
}
