package main

import "github.com/spf13/cobra"

// clusterCommands is empty: the manager and the movers need Unix, and run in Linux containers only.
func clusterCommands() []*cobra.Command { return nil }
