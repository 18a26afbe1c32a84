package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"kyklos.io/kyklos/test/harness"
)

// studio is the sample's workspace and the object store of its archive. No schedule needs them, so the first time they
// come after everything else: to build the store takes a minute or two.
type studio struct {
	cluster *harness.Cluster
	// kyklos is closed when a workspace can be applied.
	kyklos chan struct{}

	job       *job
	store     *harness.ObjectStore // once it is started; read after the job
	announced bool
}

func newStudio(cluster *harness.Cluster) *studio {
	return &studio{cluster: cluster, kyklos: make(chan struct{})}
}

// startStore starts the store of an earlier run before Kyklos, which continues where it was.
func (s *studio) startStore(ctx context.Context) {
	if _, err := harness.Binary("versitygw"); err == nil {
		s.job = inBackground(ctx, s.run)
	}
}

// open has the workspace applied, after a store that is still to be built.
func (s *studio) open(ctx context.Context, out io.Writer) {
	close(s.kyklos)
	if s.job != nil {
		_ = s.job.wait() // announce reports an error
		return
	}
	s.job = inBackground(ctx, s.run)
	fmt.Fprint(out, "A workspace follows in a minute or two, when an S3 store for its archive is built ...\n\n")
}

func (s *studio) run(ctx context.Context) error {
	var output bytes.Buffer // not into the table on the terminal
	if err := build(ctx, ".", "bin/versitygw", &output); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(output.Bytes()))
	}
	store, err := harness.StartObjectStore(ctx, filepath.Join(s.cluster.Dir, "store"), nil)
	if err != nil {
		return err
	}
	s.store = store
	select {
	case <-s.kyklos:
		return applyWorkspace(ctx, s.cluster, store)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// announce reports whether it has printed something: once, when the workspace is there, or why it is not.
func (s *studio) announce(out io.Writer) bool {
	if s.announced || !s.job.ended() {
		return false
	}
	s.announced = true
	if err := s.job.wait(); err != nil {
		fmt.Fprintf(out, "There is no workspace, but the schedules work: %v\n\n", err)
		return true
	}
	fmt.Fprintf(out, `A workspace, whose process writes into its home, %s:
  bin/kubectl patch ws mia -n studio --type merge -p '{"spec":{"desiredState":"PENDING"}}'     archive it
  bin/kubectl patch ws mia -n studio --type merge -p '{"spec":{"desiredState":"RUNNING"}}'     fetch it back and start it
  bin/kubectl describe ws mia -n studio                what happens, why, and what you can do
  bin/kubectl logs -n studio ws-mia                    what its process writes

`, filepath.Join(s.cluster.Dir, homesFolder, "studio", "mia"))
	return true
}

// storeEnded is closed when the store has ended, and nil while there is none.
func (s *studio) storeEnded() <-chan struct{} {
	if s.job == nil || !s.job.ended() || s.store == nil {
		return nil
	}
	return s.store.Done()
}

// stop ends the store, or what would start it.
func (s *studio) stop() error {
	if s.job == nil {
		return nil
	}
	s.job.stop()
	if s.store == nil {
		return nil
	}
	return s.store.Kill()
}
