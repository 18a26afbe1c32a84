// Package crd holds the CustomResourceDefinitions of Kyklos, so that the command line can judge by them without a cluster.
package crd

import "embed"

// Bases are the generated definitions, one file for each kind, in the folder bases.
//
//go:embed bases/*.yaml
var Bases embed.FS
