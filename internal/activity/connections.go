package activity

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The states of sockets in /proc/net/tcp.
const (
	established = "01"
	listening   = "0A"
)

// Socket is an open connection, by both ends, or a listener.
type Socket struct {
	Port          uint16 // the local one
	Local, Remote string // as the kernel writes them
	Listens       bool
}

// Sockets returns the open connections to local ports, and their listeners, in table, /proc/net/tcp or tcp6.
func Sockets(table io.Reader, ports ...uint16) (found []Socket, err error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Fields(lines.Text()) // sl local_address rem_address st ...
		if len(fields) < 4 || fields[0] == "sl" {
			continue
		}
		_, text, _ := strings.Cut(fields[1], ":")
		local, err := strconv.ParseUint(text, 16, 16)
		if err != nil {
			return nil, fmt.Errorf("%q is not a local address: %w", fields[1], err)
		}
		if state := fields[3]; state != established && state != listening {
			continue
		}
		for _, port := range ports {
			if uint16(local) == port {
				found = append(found, Socket{Port: port, Local: fields[1], Remote: fields[2], Listens: fields[3] == listening})
				break
			}
		}
	}
	return found, lines.Err()
}
