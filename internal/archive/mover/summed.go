package mover

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// summed hashes everything that is read.
type summed struct {
	io.Reader
	hash hash.Hash
	read int64
}

func newSummed(r io.Reader) *summed { return &summed{Reader: r, hash: sha256.New()} }

func (s *summed) Read(into []byte) (int, error) {
	n, err := s.Reader.Read(into)
	s.hash.Write(into[:n])
	s.read += int64(n)
	return n, err
}

func (s *summed) sum() string { return hex.EncodeToString(s.hash.Sum(nil)) }
