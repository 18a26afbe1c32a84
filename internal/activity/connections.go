package activity

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// established is the state of an open connection in /proc/net/tcp.
const established = "01"

// Connections counts the open connections to a local port in table, /proc/net/tcp or tcp6.
func Connections(table io.Reader, port uint16) (count int, err error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Fields(lines.Text()) // sl local_address rem_address st ...
		if len(fields) < 4 || fields[0] == "sl" {
			continue
		}
		_, text, _ := strings.Cut(fields[1], ":")
		local, err := strconv.ParseUint(text, 16, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is not a local address: %w", fields[1], err)
		}
		if uint16(local) == port && fields[3] == established {
			count++
		}
	}
	return count, lines.Err()
}
