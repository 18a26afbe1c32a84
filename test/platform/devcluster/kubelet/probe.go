package kubelet

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// probe keeps a run's readiness until its end, by the container's readiness probe.
func probe(c *corev1.Container, made command, r *run, changed func()) {
	set := func(ready bool) {
		if r.setReady(ready) {
			changed()
		}
	}
	p := c.ReadinessProbe
	var good, bad int32
	wait := time.Duration(p.InitialDelaySeconds) * time.Second
	for {
		select {
		case <-r.done:
			return
		case <-time.After(wait):
		}
		if asked(c, p, made, r) == nil {
			good, bad = good+1, 0
		} else {
			good, bad = 0, bad+1
		}
		switch {
		case good >= p.SuccessThreshold:
			set(true)
		case bad >= p.FailureThreshold:
			set(false)
		}
		wait = time.Duration(p.PeriodSeconds) * time.Second
		if !r.isReady() && !isSidecar(c) { // one that is unready may be so for long
			// A real kubelet keeps to the period here too; a start without a wait is worth more to tests.
			wait = min(wait, pollInterval)
		}
	}
}

// asked runs the probe once; an answer in time and good is nil.
func asked(c *corev1.Container, p *corev1.Probe, made command, r *run) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(p.TimeoutSeconds)*time.Second)
	defer cancel()
	switch {
	case p.Exec != nil:
		cmd := exec.CommandContext(ctx, program(c.Image, made.inside.host(p.Exec.Command[0])))
		for _, arg := range p.Exec.Command[1:] {
			cmd.Args = append(cmd.Args, made.inside.host(arg))
		}
		cmd.Env, cmd.Dir = made.env, made.dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: r.pid} // it ends with the container
		return cmd.Run()
	case p.HTTPGet != nil:
		return got(ctx, c, p.HTTPGet)
	case p.TCPSocket != nil:
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", endpoint(c, p.TCPSocket.Host, p.TCPSocket.Port))
		if err != nil {
			return err
		}
		return conn.Close()
	}
	return fmt.Errorf("this node knows the probes exec, httpGet and tcpSocket only")
}

func got(ctx context.Context, c *corev1.Container, get *corev1.HTTPGetAction) error {
	url := strings.ToLower(string(get.Scheme)) + "://" + endpoint(c, get.Host, get.Port) + "/" + strings.TrimPrefix(get.Path, "/")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	for _, header := range get.HTTPHeaders {
		request.Header.Add(header.Name, header.Value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode < 200 || answer.StatusCode >= 400 {
		err = fmt.Errorf("it answers %s", answer.Status)
	}
	answer.Body.Close()
	return err
}

// endpoint is where a probe connects to: this machine, if it names no other.
func endpoint(c *corev1.Container, host string, port intstr.IntOrString) string {
	if host == "" {
		host = nodeAddress
	}
	number := port.String()
	for _, named := range c.Ports {
		if port.Type == intstr.String && named.Name == port.StrVal {
			number = strconv.Itoa(int(named.ContainerPort))
		}
	}
	return net.JoinHostPort(host, number)
}
