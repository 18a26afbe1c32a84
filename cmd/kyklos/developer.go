//go:build !reference

package main

//go:generate go run -tags reference . reference ../../docs/cli

import "github.com/spf13/cobra"

// developerCommands are those that only the project itself needs, in builds of their own.
func developerCommands() []*cobra.Command { return nil }
