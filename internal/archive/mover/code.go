package mover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/home"
)

// Code says how a run ended.
type Code string

// How a run ends.
const (
	OK Code = "OK"
	// ArchiveNotFound, MetaNotFound: the data or the marker to restore from are not in the store.
	ArchiveNotFound Code = "ARCHIVE_NOT_FOUND"
	MetaNotFound    Code = "META_NOT_FOUND"
	// ChecksumMismatch: what is to be restored is not what was archived.
	ChecksumMismatch Code = "CHECKSUM_MISMATCH"
	// StoreAccess: the store gives no answer or refuses. BucketMissing: it has no such bucket.
	StoreAccess   Code = "S3_ACCESS_ERROR"
	BucketMissing Code = "BUCKET_MISSING"
	// ArchiveUnverified: what this operation stored is not the volume's home. It must be
	// discarded before the next attempt; the volume is as it was.
	ArchiveUnverified Code = "ARCHIVE_UNVERIFIED"
	// HomeChanged: somebody writes to the volume. HomeUnreadable: a file or folder forbids it.
	HomeChanged    Code = "HOME_CHANGED"
	HomeUnreadable Code = "HOME_UNREADABLE"
	// HomeMissing: the volume should have a home and has none.
	HomeMissing Code = "HOME_MISSING"
	// HomeExists: the volume to restore to holds a home that is not known to be in the archive.
	HomeExists Code = "HOME_EXISTS"
	// VolumeMismatch: it is another volume than the one asked for.
	VolumeMismatch Code = "VOLUME_MISMATCH"
	// VolumeBusy: another mover is at work on it.
	VolumeBusy Code = "VOLUME_BUSY"
	// ArchiveTooLarge: the data need more room than the ticket allows.
	ArchiveTooLarge Code = "ARCHIVE_TOO_LARGE"
	DiskFull        Code = "DISK_FULL"
	// TarCreateFailed, TarExtractFailed: anything else that failed on the volume.
	TarCreateFailed  Code = "TAR_CREATE_FAILED"
	TarExtractFailed Code = "TAR_EXTRACT_FAILED"
	// Cancelled: it was told to stop.
	Cancelled Code = "CANCELLED"
)

// Reasons of status.error, from which it is decided whether there is another attempt.
const (
	Mismatch     = "Mismatch"
	Unreachable  = "Unreachable"
	ActionFailed = "ActionFailed"
	DataLost     = "DataLost"
)

// Reason is the reason for status.error that a code stands for; OK has none.
func (c Code) Reason() string {
	switch c {
	case OK:
		return ""
	case ArchiveNotFound, MetaNotFound, ChecksumMismatch, HomeMissing:
		return DataLost
	case StoreAccess, BucketMissing:
		return Unreachable
	case HomeExists, VolumeMismatch:
		return Mismatch
	}
	return ActionFailed
}

// ExitCode is the process' exit code, one for each reason.
func (c Code) ExitCode() int {
	return map[string]int{"": 0, Unreachable: 10, ActionFailed: 11, Mismatch: 12, DataLost: 13}[c.Reason()]
}

var (
	errReadBack = errors.New("what was stored could not be verified to be the volume's home")
	errVolume   = errors.New("this is another volume")
	errNoHome   = errors.New("the volume has no folder home, though a workspace ran on it")
	errHome     = errors.New("the volume holds a home that the archive does not have")
	errBusy     = errors.New("another mover is at work on this volume")
)

// Failure is why a run failed.
type Failure struct {
	Code Code
	err  error
}

// Error begins with the code.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Code, f.err) }

// Unwrap is what failed.
func (f *Failure) Unwrap() error { return f.err }

// ExitCode is the process' exit code.
func (f *Failure) ExitCode() int { return f.Code.ExitCode() }

// code is what both ways have in common, in the order in which they count: a run that was told to stop fails in
// many ways, and a store out of reach makes a stream end early.
func code(err error, otherwise Code) Code {
	for _, each := range []struct {
		err  error
		code Code
	}{
		{context.Canceled, Cancelled},
		{context.DeadlineExceeded, Cancelled},
		{archive.ErrTooLarge, ArchiveTooLarge},
		{archive.ErrBucketMissing, BucketMissing},
		{archive.ErrUnreachable, StoreAccess},
		{archive.ErrDenied, StoreAccess},
		{syscall.ENOSPC, DiskFull},
		{syscall.EDQUOT, DiskFull},
		{errVolume, VolumeMismatch},
		{errBusy, VolumeBusy},
		{errHome, HomeExists},
	} {
		if errors.Is(err, each.err) {
			return each.code
		}
	}
	return otherwise
}

func archiveFailure(err error) error {
	otherwise := TarCreateFailed
	for _, each := range []struct {
		err  error
		code Code
	}{
		{errReadBack, ArchiveUnverified},
		{archive.ErrCorrupt, ArchiveUnverified},
		{archive.ErrExists, ArchiveUnverified},
		{archive.ErrNotFound, ArchiveUnverified},
		{home.ErrChanged, HomeChanged},
		{errNoHome, HomeMissing},
		{fs.ErrPermission, HomeUnreadable},
	} {
		if errors.Is(err, each.err) {
			otherwise = each.code
			break
		}
	}
	return &Failure{Code: code(err, otherwise), err: err}
}

// Failed is the result of a run that failed.
func Failed(key archive.Key, err error) Result {
	failed := Result{Code: TarCreateFailed, Key: key.Data(), Message: err.Error()}
	if failure := (*Failure)(nil); errors.As(err, &failure) {
		failed.Code, failed.Message = failure.Code, failure.err.Error()
	}
	return failed
}

// maxMessage is how long Kubernetes lets a container's termination message be, in bytes.
const maxMessage = 4096

// JSON is the result as a termination message. What is too long is cut: first names, then words.
func (r Result) JSON() []byte {
	for {
		text, err := json.Marshal(r)
		if err != nil {
			panic(err) // strings and numbers only
		}
		switch {
		case len(text) <= maxMessage:
			return text
		case len(r.LeftOut) > 0:
			r.LeftOut = r.LeftOut[:len(r.LeftOut)-1]
		default:
			r.Message = strings.ToValidUTF8(r.Message[:len(r.Message)*3/4], "")
		}
	}
}

// ParseResult reads a termination message. The error says that it is none of a mover's: it was
// killed, or never began.
func ParseResult(message string) (Result, error) {
	var result Result
	if err := json.Unmarshal([]byte(message), &result); err != nil || result.Code == "" {
		return Result{}, fmt.Errorf("%.200q is no mover's result", message)
	}
	return result, nil
}
