package home

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// maxUnreadableName is how much of a name is shown of a file that cannot be read, in bytes: its end.
const maxUnreadableName = 200

// blocked replaces the error about the first file or folder that cannot be read by one about all of them, so that they can be
// made readable at once (W77). Other errors are returned as they are.
func blocked(ctx context.Context, folder *os.Root, err error) error {
	if folder == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	s := &survey{ctx: ctx}
	if failed := s.folder(folder, ".", nil); failed != nil || s.left.count == 0 {
		return err
	}
	var all Summary
	s.left.put(&all)
	return fmt.Errorf("%w to read %s", fs.ErrPermission, DescribeLeftOut(all.LeftOutKinds, all.LeftOut))
}

// survey looks for what may not be read, without reading it.
type survey struct {
	ctx  context.Context
	left leftOut
}

// folder looks into a folder. own is its own entry, nil for the home itself.
func (s *survey) folder(folder *os.Root, name string, own fs.FileInfo) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	list, err := folder.Open(".")
	if err != nil {
		return s.refused(name, own, err)
	}
	names, err := list.Readdirnames(-1)
	_ = list.Close()
	if err != nil {
		return s.refused(name, own, err)
	}
	for _, child := range names {
		info, err := folder.Lstat(child)
		if errors.Is(err, fs.ErrPermission) {
			return s.refused(name, own, err) // it may be listed, but not entered
		}
		if err == nil {
			err = s.child(folder, child, path.Join(name, child), info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *survey) child(folder *os.Root, base, name string, info fs.FileInfo) error {
	switch info.Mode().Type() {
	case fs.ModeDir:
		inner, err := folder.OpenRoot(base)
		if err != nil {
			return s.refused(name, info, err)
		}
		defer func() { _ = inner.Close() }()
		return s.folder(inner, name, info)
	case 0:
		file, err := folder.OpenFile(base, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != nil {
			return s.refused(name, info, err)
		}
		return file.Close()
	}
	return nil
}

// refused notes what may not be read, with its owner and mode. Other errors are returned.
func (s *survey) refused(name string, info fs.FileInfo, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if over := len(name) - maxUnreadableName; over > 0 {
		name = "..." + strings.ToValidUTF8(name[over:], "")
	}
	what := "folder"
	if info != nil {
		if !info.IsDir() {
			what = "file"
		}
		what = fmt.Sprintf("%s of user %d, mode %04o", what, info.Sys().(*syscall.Stat_t).Uid, info.Mode().Perm())
	}
	s.left.out(name, what)
	return nil
}
