package home

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"syscall"
	"time"
)

// Pack writes the folder as a tar.gz. report, which may be nil, is called after every entry and every megabyte. Anything
// that cannot be read is an error, which names all that may not be read (fs.ErrPermission), and so is a change meanwhile (ErrChanged). A nil folder is a home that was never
// created: it is packed as an empty one, owned by the caller.
func Pack(ctx context.Context, folder *os.Root, w io.Writer, report func(Progress)) (Summary, error) {
	zip, err := compress(w)
	if err != nil {
		return Summary{}, err
	}
	summary, err := pack(ctx, folder, zip, report)
	if err != nil {
		_ = zip.Close() // ends its goroutines
		return Summary{}, err
	}
	return summary, zip.Close()
}

// Survey returns the same as Pack without writing.
func Survey(ctx context.Context, folder *os.Root) (Summary, error) {
	return pack(ctx, folder, io.Discard, nil)
}

func pack(ctx context.Context, folder *os.Root, w io.Writer, report func(Progress)) (Summary, error) {
	p := &packer{
		ctx: ctx, tar: tar.NewWriter(w), raw: w, digest: newDigester(), report: report,
		links: map[inode]string{}, buffer: make([]byte, 1<<20),
	}
	if err := p.home(folder); err != nil {
		return Summary{}, blocked(ctx, folder, err)
	}
	p.summary.Tree = p.digest.sum()
	p.summary.Allocated += p.digest.content.allocated
	p.left.put(&p.summary)
	return p.summary, p.tar.Close()
}

func (p *packer) home(folder *os.Root) error {
	if folder == nil {
		return p.put(&tar.Header{
			Typeflag: tar.TypeDir, Name: "./", Mode: 0o755, Uid: os.Getuid(), Gid: os.Getgid(), ModTime: time.Unix(0, 0), Format: tar.FormatPAX,
			PAXRecords: withFormat(nil),
		})
	}
	info, err := folder.Lstat(".")
	if err != nil {
		return err
	}
	return p.folder(folder, ".", info)
}

type packer struct {
	ctx     context.Context
	tar     *tar.Writer
	raw     io.Writer // below tar, for what it cannot write
	digest  *digester
	report  func(Progress)
	links   map[inode]string
	buffer  []byte
	summary Summary
	left    leftOut
}

type inode struct{ device, number uint64 }

// folder packs a folder and its content. Its entries are opened relative to it, so names can be of any depth.
func (p *packer) folder(folder *os.Root, name string, info fs.FileInfo) error {
	list, err := folder.Open(".")
	if err != nil {
		return p.at(name, err)
	}
	defer func() { _ = list.Close() }()
	names, err := list.Readdirnames(-1)
	if err != nil {
		return p.at(name, err)
	}
	slices.Sort(names)
	header, err := p.header(name, info, list)
	if err != nil {
		return err
	}
	header.Typeflag, header.Name, header.Size = tar.TypeDir, name+"/", 0
	if name == "." {
		header.PAXRecords = withFormat(header.PAXRecords)
	}
	p.summary.Allocated += holeSize
	if err := p.put(header); err != nil {
		return err
	}
	for _, child := range names {
		if err := p.child(folder, child, path.Join(name, child)); err != nil {
			return err
		}
	}
	return p.unchanged(list, name, info)
}

func (p *packer) child(folder *os.Root, base, name string) error {
	info, err := folder.Lstat(base)
	if err != nil {
		return p.at(name, err)
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		inner, err := folder.OpenRoot(base)
		if err != nil {
			return p.at(name, err)
		}
		defer func() { _ = inner.Close() }()
		return p.folder(inner, name, info)
	case fs.ModeSymlink:
		return p.symlink(folder, base, name, info)
	case 0:
		return p.file(folder, base, name, info)
	}
	p.left.out(name, kind(info.Mode()))
	return nil
}

func (p *packer) symlink(folder *os.Root, base, name string, info fs.FileInfo) error {
	linked, remember := p.linked(name, info)
	if linked != nil {
		return p.put(linked)
	}
	header, err := p.header(name, info, nil)
	if err != nil {
		return err
	}
	header.Typeflag, header.Size = tar.TypeSymlink, 0
	if header.Linkname, err = folder.Readlink(base); err != nil {
		return p.at(name, err)
	}
	remember()
	return p.put(header)
}

// linked returns the entry of a file or symbolic link that was packed under another name, nil for the first one. remember is called
// when that is packed.
func (p *packer) linked(name string, info fs.FileInfo) (entry *tar.Header, remember func()) {
	stat := info.Sys().(*syscall.Stat_t)
	id := inode{uint64(stat.Dev), stat.Ino} //nolint:unconvert // Dev is an int32 elsewhere
	if first, ok := p.links[id]; ok {
		return &tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: first, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}, nil
	}
	return nil, func() {
		if stat.Nlink > 1 {
			p.links[id] = name
		}
	}
}

func (p *packer) file(folder *os.Root, base, name string, info fs.FileInfo) error {
	linked, remember := p.linked(name, info)
	if linked != nil {
		return p.put(linked)
	}
	file, err := folder.OpenFile(base, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return p.at(name, err)
	}
	defer func() { _ = file.Close() }()
	header, err := p.header(name, info, file)
	if err != nil {
		return err
	}
	header.Typeflag, header.Size = tar.TypeReg, info.Size()
	if header.Size > math.MaxInt64-p.summary.Bytes {
		return p.at(name, errTooLarge)
	}
	if err := p.content(file, header); err != nil {
		return p.at(name, err)
	}
	remember()
	p.done(header)
	return p.unchanged(file, name, info)
}

// put writes an entry without content.
func (p *packer) put(header *tar.Header) error {
	if err := p.tar.WriteHeader(header); err != nil {
		return p.at(header.Name, err)
	}
	p.done(header)
	return p.ctx.Err()
}

func (p *packer) done(header *tar.Header) {
	p.digest.add(header)
	p.summary.Entries++
	p.progress(0)
}

func (p *packer) progress(read int64) {
	p.summary.Bytes += read
	if p.report != nil {
		p.report(Progress{p.summary.Entries, p.summary.Bytes})
	}
}

// unchanged checks that an open file or folder has not changed since before.
func (p *packer) unchanged(file *os.File, name string, before fs.FileInfo) error {
	after, err := file.Stat()
	if err != nil {
		return p.at(name, err)
	}
	if !os.SameFile(before, after) || before.Size() != after.Size() || before.Mode() != after.Mode() ||
		!before.ModTime().Equal(after.ModTime()) || !changed(before).Equal(changed(after)) {
		return p.at(name, ErrChanged)
	}
	return nil
}

// at adds the name to an error. An entry that has disappeared was changed.
func (p *packer) at(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return fmt.Errorf("%q: %w", name, err)
}

// contentReader reads a file's content, calls read with the number of bytes, and ends with ctx.
type contentReader struct {
	io.Reader
	ctx  context.Context
	read func(int64)
}

func (c *contentReader) Read(into []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.Reader.Read(into)
	c.read(int64(n))
	return n, err
}
