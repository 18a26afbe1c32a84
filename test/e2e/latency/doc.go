// Package latency measures what Kyklos adds to the requests of others: what its webhooks cost whoever writes a schedule.
// `make bench` runs it.
package latency
