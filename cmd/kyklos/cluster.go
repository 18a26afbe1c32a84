//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"kyklos.io/kyklos/manager"
)

// clusterCommands are those that Kyklos runs in a cluster.
func clusterCommands() []*cobra.Command { return manager.Commands() }
