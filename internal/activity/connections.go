package activity

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The states of sockets in /proc/net/tcp.
const (
	established = "01"
	timeWait    = "06"
	listening   = "0A"
)

// mapped begins an IPv4 address in a table of IPv6.
const mapped = "0000000000000000FFFF0000"

// Socket is a connection, by both ends, or a listener.
type Socket struct {
	Port          uint16 // the local one
	Local, Remote string // as the kernel writes them in the table of IPv4, if they are such
	Listens       bool
	// Ended: it has ended within the last minute. The kernel shows those that were ended from here.
	Ended bool
}

// Sockets returns the connections to local ports that are open or have just ended, and their listeners, in table, /proc/net/tcp
// or tcp6.
func Sockets(table io.Reader, ports ...uint16) (found []Socket, err error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Fields(lines.Text()) // sl local_address rem_address st ...
		if len(fields) < 4 || fields[0] == "sl" {
			continue
		}
		port, err := portOf(fields[1])
		if err != nil {
			return nil, fmt.Errorf("%q is not a local address: %w", fields[1], err)
		}
		socket := Socket{Port: port, Local: strings.TrimPrefix(fields[1], mapped), Remote: strings.TrimPrefix(fields[2], mapped)}
		switch fields[3] {
		case established:
		case listening:
			socket.Listens = true
		case timeWait:
			socket.Ended = true
			if remote, err := portOf(fields[2]); err == nil && !slices.Contains(ports, port) && loopback(socket.Remote) {
				// A client within, such as kubectl port-forward, has ended it: this is its end.
				socket.Port, socket.Local, socket.Remote = remote, socket.Remote, socket.Local
			}
		default:
			continue
		}
		if slices.Contains(ports, socket.Port) {
			found = append(found, socket)
		}
	}
	return found, lines.Err()
}

func portOf(address string) (uint16, error) {
	_, text, _ := strings.Cut(address, ":")
	port, err := strconv.ParseUint(text, 16, 16)
	return uint16(port), err
}

// loopback reports whether it is 127.0.0.1 or ::1, as the kernel writes them on machines of either byte order.
func loopback(address string) bool {
	host, _, _ := strings.Cut(address, ":")
	return slices.Contains([]string{"0100007F", "7F000001", "00000000000000000000000001000000", "00000000000000000000000000000001"}, host)
}
