package harness

import (
	"fmt"
	"syscall"
)

// FreePort reserves a loopback port until this program ends. Listeners can use it repeatedly, but Linux does not give it to
// a listener that asks for any port.
func FreePort() (int, error) { return reserve(0) }

// reserve binds a port and never listens on it; 0 means any port. Only a listener that asks for this number gets such a
// port, and only with SO_REUSEADDR, which all listeners of Go set.
func reserve(port int) (int, error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("reserve a port: %w", err)
	}
	err = syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: port})
	}
	var bound syscall.Sockaddr
	if err == nil {
		bound, err = syscall.Getsockname(socket)
	}
	if err != nil {
		_ = syscall.Close(socket)
		return 0, fmt.Errorf("reserve port %d: %w", port, err)
	}
	return bound.(*syscall.SockaddrInet4).Port, nil
}
