package certs

import (
	"context"
	"crypto/x509"
	"testing"
	"time"

	cmtls "github.com/cert-manager/cert-manager/pkg/server/tls"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/testr"
)

func TestIsAhead(t *testing.T) {
	for ahead, want := range map[time.Duration]bool{-time.Hour: false, 0: false, maxAhead: false, maxAhead + time.Second: true, 24 * time.Hour: true} {
		if got := isAhead(&x509.Certificate{NotBefore: noon.Add(ahead)}, noon); got != want {
			t.Errorf("%s before its time: %t, want %t", ahead, got, want)
		}
	}
}

// signer is an authority that signs at the times that it is given.
type signer struct {
	testCA
	t  testing.TB
	at chan time.Time
}

func (signer) Run(ctx context.Context) error        { <-ctx.Done(); return nil }
func (signer) WatchRotation(chan<- struct{})        {}
func (signer) StopWatchingRotation(chan<- struct{}) {}

func (s signer) Sign(template *x509.Certificate) (*x509.Certificate, error) {
	template.NotBefore = <-s.at
	template.NotAfter = template.NotBefore.Add(time.Hour)
	return sign(s.t, template, s.Certificate, template.PublicKey, s.key), nil
}

// A leaf that was issued while the clock was a day ahead would be refused for a day after the clock is right.
func TestALeafFromAClockThatWasAheadIsReissued(t *testing.T) {
	at, right := make(chan time.Time), time.Now().Truncate(time.Second) // the source uses the machine's clock
	s := &SelfManaged{
		options:   Options{Log: testr.New(t)},
		authority: &reissuingAuthority{Authority: signer{newCA(t, right.Add(48*time.Hour)), t, at}},
	}
	s.source = &cmtls.DynamicSource{DNSNames: []string{"kyklos"}, Authority: s.authority}
	ctx, cancel := context.WithCancel(logr.NewContext(t.Context(), testr.New(t)))
	ended := make(chan error)
	go func() { ended <- s.source.Start(ctx) }()
	issued := func(want time.Time) {
		select {
		case at <- want:
		case <-time.After(time.Minute):
			t.Fatal("no leaf is asked for")
		}
		for newest := s.newest(); newest == nil || !newest.Leaf.NotBefore.Equal(want); newest = s.newest() {
			time.Sleep(time.Millisecond)
		}
	}
	issued(right.Add(24 * time.Hour))
	s.reissueFuture(right.Add(24 * time.Hour)) // as far as the replica knows, this clock is right
	select {
	case at <- right:
		t.Error("a leaf is reissued without a reason")
	case <-time.After(20 * time.Millisecond):
	}
	s.reissueFuture(right)
	issued(right)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
