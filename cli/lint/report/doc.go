// Package report writes what lint found, for people and for the programs of pipelines. Every format takes any text: names and
// messages come out of files that anybody may have written, and none of them can end a field early, start a new line of a report or
// speak to a terminal.
package report
