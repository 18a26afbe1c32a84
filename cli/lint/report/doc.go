// Package report writes findings for people and for pipelines. Names and messages come from untrusted files, so every
// format escapes them: none can end a field, start a new line of the report or control a terminal.
package report
