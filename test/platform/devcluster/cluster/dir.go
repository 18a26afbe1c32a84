package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Dir is the folder that keeps one cluster. It is locked while open, so two processes never share an etcd
// store; the kernel drops the lock with the process, also after kill -9.
type Dir struct {
	root string
	lock *os.File
}

// OpenDir makes the folder if it is missing and locks it. It fails when another devcluster holds the lock.
func OpenDir(root string) (*Dir, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("resolving --dir: %w", err)
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("making --dir: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(root, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of --dir: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer lock.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("locking --dir: %w", err)
		}
		pid := make([]byte, 16)
		n, _ := lock.Read(pid)
		return nil, fmt.Errorf("%s is in use by another devcluster (pid %s): stop that one, or name another folder with --dir",
			root, strings.TrimSpace(string(pid[:n])))
	}
	if err := lock.Truncate(0); err == nil {
		_, err = lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("writing the lock of --dir: %w", err)
	}
	return &Dir{root: root, lock: lock}, nil
}

// Path returns the absolute path of a file in the folder.
func (d *Dir) Path(elem ...string) string {
	return filepath.Join(append([]string{d.root}, elem...)...)
}

// Close unlocks the folder.
func (d *Dir) Close() error { return d.lock.Close() }

// listen opens the API server's loopback port: the wanted one, or with 0 the one this folder used before,
// so that an old kubeconfig stays valid, or any free one. The choice is remembered.
func (d *Dir) listen(wanted int) (net.Listener, error) {
	port := wanted
	if port == 0 {
		if text, err := os.ReadFile(d.Path("port")); err == nil {
			port, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
	}
	listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil && wanted == 0 {
		listener, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("opening the API server's port: %w", err)
	}
	taken := listener.Addr().(*net.TCPAddr).Port
	if err := os.WriteFile(d.Path("port"), []byte(strconv.Itoa(taken)+"\n"), 0o600); err != nil {
		listener.Close()
		return nil, fmt.Errorf("remembering the API server's port: %w", err)
	}
	return listener, nil
}

// listenKubelet opens the kubelet's loopback port to the API server alone, which has the only certificates of
// clients that the authority signed: a Node's logs are not for everybody on this machine.
func (d *Dir) listenKubelet(creds *Credentials) (net.Listener, error) {
	certificate, err := tls.LoadX509KeyPair(d.Path("pki", "kubelet.crt"), d.Path("pki", "kubelet.key"))
	if err != nil {
		return nil, fmt.Errorf("reading the kubelet's certificate: %w", err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(creds.CA)
	listener, err := tls.Listen("tcp4", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the kubelet's port: %w", err)
	}
	return listener, nil
}
