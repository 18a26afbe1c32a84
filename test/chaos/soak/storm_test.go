package soak

import (
	"math/rand/v2"
	"sync"
	"time"
)

// fault is one kind of fault. draw chooses its details and returns a description, and a function that injects it and
// returns when it is over.
type fault struct {
	name   string
	weight int
	draw   func(s *soak, random *rand.Rand) (what string, inject func())
}

// storm injects a few faults around the next boundary and waits for their end.
func (s *soak) storm() {
	now := time.Now()
	lead := time.Duration(s.random.IntN(15)) * time.Second
	if s.random.IntN(4) == 0 {
		lead = -time.Duration(s.random.IntN(20)) * time.Second // after the boundary
	}
	start := now.Truncate(time.Minute).Add(time.Minute - lead)
	if short := *length < 2*time.Minute; short {
		start = now
	}
	s.pause(time.Until(start))
	s.mu.Lock()
	s.active++
	s.mu.Unlock()
	var faults sync.WaitGroup
	for _, f := range s.drawFaults() {
		what, inject := f.draw(s, rand.New(rand.NewPCG(s.random.Uint64(), 0)))
		after := time.Duration(s.random.IntN(8000)) * time.Millisecond
		faults.Go(func() {
			if s.pause(after) {
				s.say("%s: %s", f.name, what)
				inject()
			}
		})
		s.mu.Lock()
		s.injected[f.name]++
		s.mu.Unlock()
	}
	faults.Wait()
	s.mu.Lock()
	s.active--
	s.faultless = time.Now()
	s.mu.Unlock()
	s.disturbed(time.Now())
	s.say("calm; %d violations so far", s.failures())
}

// drawFaults draws one to four faults.
func (s *soak) drawFaults() (drawn []fault) {
	total := 0
	for _, f := range faults {
		total += f.weight
	}
	for range 1 + s.random.IntN(4) {
		at := s.random.IntN(total)
		for _, f := range faults {
			if at -= f.weight; at < 0 {
				drawn = append(drawn, f)
				break
			}
		}
	}
	return drawn
}

// seconds draws a length.
func seconds(random *rand.Rand, least, most int) time.Duration {
	return time.Duration(1000*least+random.IntN(1000*(most-least))) * time.Millisecond
}

func oneOf[T any](random *rand.Rand, of ...T) T { return of[random.IntN(len(of))] }
