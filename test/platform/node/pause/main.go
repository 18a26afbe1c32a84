// Command pause does nothing until it is stopped: the container that holds a pod's namespaces, and the
// workload that gets scaled.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	<-stop
}
