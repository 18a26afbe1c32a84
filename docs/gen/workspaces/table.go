package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"kyklos.io/kyklos/internal/lifecycle"
)

// The lines around the table on the page.
const (
	tableBegins = "<!-- operations: written by go generate -->\n"
	tableEnds   = "<!-- operations end -->\n"
)

// fill replaces the table on the page.
func fill(page []byte, table string) ([]byte, error) {
	head, rest, found := bytes.Cut(page, []byte(tableBegins))
	_, tail, ends := bytes.Cut(rest, []byte(tableEnds))
	if !found || !ends {
		return nil, errors.New("the lines around the table of operations are missing")
	}
	return []byte(string(head) + tableBegins + "\n" + table + "\n" + tableEnds + string(tail)), nil
}

// operations is the table of operations in Markdown.
func operations() string {
	var table strings.Builder
	table.WriteString("| Operation | From | To | Done by a Job | Complete when | At most |\n|---|---|---|---|---|---|\n")
	for _, t := range lifecycle.Traits() {
		from, to := "any state", string(t.To)
		for _, edge := range lifecycle.Edges() {
			if edge.Operation == t.Operation {
				from, to = levels(edge)
			}
		}
		if t.Operation == lifecycle.Removing {
			to = "gone"
		}
		job := "no"
		if t.Job {
			job = "yes"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s | %s |\n", t.Operation, from, to, job, t.Complete, minutes(t.Limit))
	}
	return table.String()
}

// levels are the ends of an edge as shown to people.
func levels(edge lifecycle.Edge) (from, to string) {
	from, to = string(edge.From), string(edge.To)
	if edge.Archive == lifecycle.With {
		from = string(lifecycle.Archived)
	}
	if edge.To == lifecycle.Pending {
		to = string(lifecycle.Archived)
	}
	return from, to
}
