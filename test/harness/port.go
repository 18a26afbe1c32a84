package harness

import (
	"fmt"
	"syscall"
)

// FreePort returns a loopback port that is this program's until it ends: it can be listened on, as often as
// one likes, but Linux gives it to nobody who asks for any port.
func FreePort() (int, error) { return reserve(0) }

// reserve binds a port, 0 means any, and never listens there. Such a port is in use for everybody who does not
// ask for this number, and free for who does, if both have SO_REUSEADDR, which all listeners of Go have.
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
