// Package explain says why a schedule asks for the number that it asks for: window by window, with holidays, percentages, metrics and
// grace, and, where the state of a cluster is known, what comes between the schedule and its target. It is pure: what it knows of the
// cluster is given to it.
package explain
