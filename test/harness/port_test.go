package harness

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
)

// A reserved port is free for a listener that asks for its number, before and after it was used.
func TestFreePortStaysFree(t *testing.T) {
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		// A listener that asks for any port avoids a bound socket, as this one does without SO_REUSEADDR.
		if err := bindAlone(port); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("another listener got the port: %v", err)
		}
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reserve(port); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("reserved while it is listened on: %v", err)
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func bindAlone(port int) error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(syscall.Bind(socket, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}), syscall.Close(socket))
}
