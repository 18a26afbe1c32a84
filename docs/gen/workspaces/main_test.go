package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/internal/lifecycle"
)

// What is in the repository is what the tables of the engine give now.
func TestPageAndPicturesAreUpToDate(t *testing.T) {
	const docs = "../.."
	again := t.TempDir()
	names := []string{"workspaces.md", statesName, lifeName}
	page := read(t, filepath.Join(docs, names[0]))
	if err := os.WriteFile(filepath.Join(again, names[0]), page, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(again); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if diff := cmp.Diff(string(read(t, filepath.Join(docs, name))), string(read(t, filepath.Join(again, name)))); diff != "" {
			t.Errorf("run go generate ./docs/gen/workspaces (-file +drawn):\n%s", diff)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Each operation is drawn once, from box to box, and nothing sticks out.
func TestPictures(t *testing.T) {
	for name, picture := range map[string][]byte{statesName: states(), lifeName: life()} {
		for decoder := xml.NewDecoder(strings.NewReader(string(picture))); ; {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	drawn := string(states())
	taken := map[int]lifecycle.OperationType{}
	for _, edge := range lifecycle.Edges() {
		if count := strings.Count(drawn, ">"+string(edge.Operation)+"<"); count != 1 {
			t.Errorf("%s is drawn %d times", edge.Operation, count)
		}
		lane, found := lanes[edge.Operation]
		from, to := ends(edge)
		if y := top + lane; !found || y <= max(from.y, to.y) || y >= min(from.bottom(), to.bottom()) {
			t.Errorf("%s has no lane between %+v and %+v", edge.Operation, from, to)
		}
		if other := taken[lane]; other != "" {
			t.Errorf("%s and %s share a lane", edge.Operation, other)
		}
		taken[lane] = edge.Operation
	}
	for _, p := range places {
		if p.box.right() > width-left || p.box.bottom() > outside {
			t.Errorf("%s sticks out: %+v", p.state, p.box)
		}
	}
}

func TestAPageWithoutRoomIsRefused(t *testing.T) {
	for _, page := range []string{"", tableBegins, tableEnds, tableEnds + tableBegins} {
		if _, err := fill([]byte(page), "x"); err == nil {
			t.Errorf("%q was filled", page)
		}
	}
}

// At every moment one of the bars is whole, and the volume goes only after the point of no return.
func TestAWholeCopyAtEveryMoment(t *testing.T) {
	for tenth := range 10 * len(steps) {
		moment := (float64(tenth) + 0.5) / 10
		if !slices.ContainsFunc(bars, func(b bar) bool { return b.class == "whole" && b.from < moment && moment < b.to }) {
			t.Errorf("no whole copy at %v", moment)
		}
	}
	if volume := bars[0]; volume.to <= recorded+1 || slices.Index(steps[int(volume.to)].acts, lifecycle.ActDeleteVolume) < 0 {
		t.Errorf("the volume goes in step %v", volume.to)
	}
}

// The steps are what the engine does, in its order, when nothing goes wrong.
func TestStepsAreTheEngines(t *testing.T) {
	s := newSimulation(t)
	for _, way := range []struct {
		desired   lifecycle.State
		operation lifecycle.OperationType
	}{{lifecycle.Pending, lifecycle.Archiving}, {lifecycle.Running, lifecycle.Restoring}} {
		acts, point := s.until(way.desired, way.operation)
		var drawn []lifecycle.ActionKind
		for i, step := range steps {
			if step.during != string(way.operation) {
				continue
			}
			drawn = append(drawn, step.acts...)
			if i == recorded && !endsWith(acts[:point], drawn) {
				t.Errorf("recorded after %v, drawn are %v", acts[:point], drawn)
			}
		}
		if !endsWith(acts, drawn) {
			t.Errorf("%s does %v, drawn are %v", way.operation, acts, drawn)
		}
	}
}

// endsWith reports whether drawn ends with acts in their order. Reads of the store may be left out.
func endsWith(acts, drawn []lifecycle.ActionKind) bool {
	for _, act := range acts {
		switch {
		case len(drawn) > 0 && drawn[0] == act:
			drawn = drawn[1:]
		case act != lifecycle.ActVerify:
			return false
		}
	}
	return len(drawn) == 0
}

// simulation is a world in which everything works, at once.
type simulation struct {
	t      *testing.T
	in     lifecycle.Input
	stored lifecycle.ArchiveView
}

func newSimulation(t *testing.T) *simulation {
	return &simulation{t: t, in: lifecycle.Input{
		Now: time.Date(2026, time.March, 2, 8, 0, 0, 0, time.UTC), NewID: "first",
		Workspace: lifecycle.Workspace{Name: "ann", UID: "ann-uid", HasStore: true, Finalizer: true},
		Status: lifecycle.Status{
			Phase: lifecycle.Standby, Volume: lifecycle.Volume{UID: "volume-first", Content: lifecycle.Empty, Epoch: 1},
		},
		Observed: lifecycle.Observation{Live: true, PodsLive: true, Volume: lifecycle.VolumeView{
			State: lifecycle.VolumeBound, UID: "volume-first", Marker: lifecycle.Marker{Content: lifecycle.Empty},
		}},
	}}
}

// until runs the engine to the end of an operation, and gives back its actions, and how many of them
// come before the point of no return.
func (s *simulation) until(desired lifecycle.State, operation lifecycle.OperationType) (acts []lifecycle.ActionKind, point int) {
	s.in.Workspace.Desired, s.in.NewID = desired, s.in.NewID+"-"
	began := false
	for range 100 {
		decision := lifecycle.Decide(s.in)
		if was := s.in.Status; decision.Status != was {
			s.in.Status, s.in.Archive = decision.Status, lifecycle.ArchiveView{}
			if decision.Status.Operation.PointOfNoReturn && !was.Operation.PointOfNoReturn {
				point = len(acts)
			}
			if began = began || decision.Status.Operation.Type == operation; began && decision.Status.Operation.Type != operation {
				return acts, point
			}
			continue
		}
		acts = append(acts, decision.Act.Kind)
		s.do(decision.Act)
	}
	s.t.Fatalf("%s does not end: %v", operation, acts)
	return nil, 0
}

func (s *simulation) do(act lifecycle.Action) {
	seen := &s.in.Observed
	s.in.Archive = lifecycle.ArchiveView{}
	switch act.Kind {
	case lifecycle.ActVerify:
		s.in.Archive = lifecycle.ArchiveView{Key: act.Key, Verdict: lifecycle.Absent}
		if s.stored.Key == act.Key {
			s.in.Archive = s.stored
		}
	case lifecycle.ActCreateJob:
		seen.Jobs = []lifecycle.Job{{
			Name: act.Name, UID: act.Name, State: lifecycle.JobSucceeded, OperationID: act.OperationID, Attempt: act.Attempt, VolumeUID: act.UID,
		}}
		if s.stored.Key == "" {
			s.stored = lifecycle.ArchiveView{Key: act.Key, Verdict: lifecycle.Verified, Archive: lifecycle.Archive{
				SHA256: "sum", Size: 1, VolumeUID: act.UID, Epoch: act.Epoch,
			}}
		}
	case lifecycle.ActDeleteJob:
		seen.Jobs = nil
	case lifecycle.ActCreateVolume:
		seen.Volume = lifecycle.VolumeView{State: lifecycle.VolumeBound, UID: "volume-" + act.OperationID, OperationID: act.OperationID}
	case lifecycle.ActMarkVolume:
		seen.Volume.Marker = act.Marker
	case lifecycle.ActDeleteVolume:
		seen.Volume = lifecycle.VolumeView{}
	default:
		s.t.Fatalf("the engine does %q", act.Kind)
	}
}
