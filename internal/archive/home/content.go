package home

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// contentHash is the digest of a file's content: of its blocks that are not zeros, and where they are. So it is the same whether
// zeros are holes, and holes cost nothing.
type contentHash struct {
	hash hash.Hash
	// flat hashes every byte, as archives of the first format do.
	flat bool

	at         int64 // of block
	block      [holeSize]byte
	filled     int   // bytes in block
	start, end int64 // of the current run of blocks
	// allocated is what all files need on disk.
	allocated int64
}

func newContentHash() *contentHash { return &contentHash{hash: sha256.New()} }

// Write adds what comes next in the file.
func (c *contentHash) Write(p []byte) (int, error) {
	n := len(p)
	if c.flat {
		c.at += int64(n)
		return c.hash.Write(p)
	}
	for len(p) > 0 {
		if c.filled == 0 && len(p) >= holeSize {
			whole := len(p) &^ (holeSize - 1)
			c.blocks(p[:whole])
			p = p[whole:]
			continue
		}
		taken := copy(c.block[c.filled:], p)
		c.fill(taken)
		p = p[taken:]
	}
	return n, nil
}

// hole adds zeros up to the offset to.
func (c *contentHash) hole(to int64) {
	if c.filled > 0 {
		gap := int(min(to-c.at-int64(c.filled), int64(holeSize-c.filled)))
		clear(c.block[c.filled : c.filled+gap])
		c.fill(gap)
	}
	if left := to - c.at; c.filled == 0 && left > 0 {
		c.at += left &^ (holeSize - 1)
		rest := int(left & (holeSize - 1))
		clear(c.block[:rest])
		c.fill(rest)
	}
}

// fill counts n bytes that were added to block.
func (c *contentHash) fill(n int) {
	if c.filled += n; c.filled == holeSize {
		c.filled = 0
		c.blocks(c.block[:])
	}
}

// blocks adds blocks, of which only the file's last one may be shorter.
func (c *contentHash) blocks(p []byte) {
	for from, to := range runs(p) {
		if c.at+int64(from) != c.end {
			c.endRun()
			c.start = c.at + int64(from)
		}
		c.hash.Write(p[from:to])
		c.end = c.at + int64(to)
		c.allocated += int64(to-from+holeSize-1) &^ (holeSize - 1)
	}
	c.at += int64(len(p))
}

// endRun adds where a run was. It comes after the run, so that the whole can be told apart from its end.
func (c *contentHash) endRun() {
	if c.end > c.start {
		c.hash.Write(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(c.start)), uint64(c.end)))
	}
}

// sum returns the digest of a file, and begins the next one.
func (c *contentHash) sum() []byte {
	if c.filled > 0 {
		c.blocks(c.block[:c.filled])
	}
	c.endRun()
	sum := c.hash.Sum(nil)
	c.hash.Reset()
	c.at, c.filled, c.start, c.end = 0, 0, 0, 0
	return sum
}

// body is the content of one file: the data of its regions.
type body struct {
	data    io.Reader
	regions []region
	size    int64
	content *contentHash
	// skipped is called with the length of each hole.
	skipped func(int64)
}

// copy calls write with all data and their offsets.
func (b *body) copy(buffer []byte, write func(data []byte, at int64) error) error {
	at := int64(0)
	for _, r := range b.regions {
		b.skip(at, r.start)
		for at = r.start; at < r.end; {
			n, err := io.ReadFull(b.data, buffer[:min(int64(len(buffer)), r.end-at)])
			if err != nil {
				return unexpected(err)
			}
			_, _ = b.content.Write(buffer[:n])
			if err := write(buffer[:n], at); err != nil {
				return err
			}
			at += int64(n)
		}
	}
	b.skip(at, b.size)
	return nil
}

func (b *body) skip(from, to int64) {
	if from < to {
		b.content.hole(to)
		b.skipped(to - from)
	}
}

// content writes a file's header and content.
func (p *packer) content(file *os.File, header *tar.Header) (err error) {
	regions, to := regionsIn(file, header.Size), io.Writer(p.tar)
	if isDense(regions, header.Size) {
		err = p.tar.WriteHeader(header)
	} else if err = p.tar.Flush(); err == nil {
		to, err = p.raw, writeSparse(p.raw, header, regions)
	}
	if err != nil {
		return err
	}
	data := make([]io.Reader, len(regions))
	for i, r := range regions {
		data[i] = io.NewSectionReader(file, r.start, r.end-r.start)
	}
	content := &body{
		data: &contentReader{ctx: p.ctx, Reader: io.MultiReader(data...), read: p.progress}, regions: regions, size: header.Size,
		content: p.digest.content, skipped: p.progress,
	}
	err = content.copy(p.buffer, func(data []byte, _ int64) error {
		_, err := to.Write(data)
		return err
	})
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: it ended before its %d bytes", ErrChanged, header.Size)
	}
	if err == nil && to == p.raw {
		_, err = p.raw.Write(make([]byte, padding(dataBytes(regions))))
	}
	return err
}
