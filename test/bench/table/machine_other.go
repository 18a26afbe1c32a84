//go:build !linux

package main

import "runtime"

func thisMachine() machine {
	return machine{CPU: runtime.GOOS + " " + runtime.GOARCH, Cores: runtime.NumCPU()}
}
