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
	"kyklos.io/kyklos/internal/archive/encryption"
	"kyklos.io/kyklos/internal/archive/home"
)

// Code is the result of a run.
type Code string

// Results of a run.
const (
	OK Code = "OK"
	// ArchiveNotFound, MetaNotFound: the data or the marker to restore are not in the store.
	ArchiveNotFound Code = "ARCHIVE_NOT_FOUND"
	MetaNotFound    Code = "META_NOT_FOUND"
	// ChecksumMismatch: the stored data are not what was archived.
	ChecksumMismatch Code = "CHECKSUM_MISMATCH"
	// StoreAccess: the store does not answer or refuses access. BucketMissing: the bucket does not exist.
	StoreAccess   Code = "S3_ACCESS_ERROR"
	BucketMissing Code = "BUCKET_MISSING"
	// ArchiveUnverified: the data that this operation stored are not the volume's home. They must be deleted before the
	// next attempt; the volume is unchanged.
	ArchiveUnverified Code = "ARCHIVE_UNVERIFIED"
	// HomeChanged: the volume is being written to. HomeUnreadable: a file or folder cannot be read.
	HomeChanged    Code = "HOME_CHANGED"
	HomeUnreadable Code = "HOME_UNREADABLE"
	// HomeTooLarge: restored, the home would need more space than its volume has. The volume is unchanged.
	HomeTooLarge Code = "HOME_TOO_LARGE"
	// IdentityMissing: the archive is encrypted, or is to be, and no identity opens it. The data are as they were.
	IdentityMissing Code = "IDENTITY_MISSING"
	// HomeMissing: the volume should have a home, but does not.
	HomeMissing Code = "HOME_MISSING"
	// FilesBesideHome: the volume holds something besides the home, which would be deleted with it.
	FilesBesideHome Code = "FILES_BESIDE_HOME"
	// HomeExists: the volume to restore to already has a home that is not known to be in the archive.
	HomeExists Code = "HOME_EXISTS"
	// VolumeMismatch: it is not the expected volume.
	VolumeMismatch Code = "VOLUME_MISMATCH"
	// VolumeBusy: another mover works on it.
	VolumeBusy Code = "VOLUME_BUSY"
	// ArchiveTooLarge: the data need more space than the ticket allows.
	ArchiveTooLarge Code = "ARCHIVE_TOO_LARGE"
	DiskFull        Code = "DISK_FULL"
	// TarCreateFailed, TarExtractFailed: any other failure on the volume.
	TarCreateFailed  Code = "TAR_CREATE_FAILED"
	TarExtractFailed Code = "TAR_EXTRACT_FAILED"
	// Cancelled: the run was stopped.
	Cancelled Code = "CANCELLED"
)

// Reasons of status.error, which decide whether there is another attempt.
const (
	Mismatch     = "Mismatch"
	Unreachable  = "Unreachable"
	ActionFailed = "ActionFailed"
	DataLost     = "DataLost"
)

// Reason is the code's reason for status.error; OK has none.
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

// ExitCode is the process's exit code, one per reason.
func (c Code) ExitCode() int {
	return map[string]int{"": 0, Unreachable: 10, ActionFailed: 11, Mismatch: 12, DataLost: 13}[c.Reason()]
}

var (
	errReadBack = errors.New("the stored data could not be verified to be the volume's home")
	errVolume   = errors.New("this is another volume")
	errNoHome   = errors.New("the volume has no folder home with files")
	errBeside   = errors.New("beside the folder home, the volume holds")
	errHome     = errors.New("the volume has a home that is not in the archive")
	errBusy     = errors.New("another mover works on this volume")
	errNoRoom   = errors.New("restored, the home would not fit its volume")
)

// Failure is the error of a failed run.
type Failure struct {
	Code Code
	err  error
}

// Error starts with the code.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Code, f.err) }

// Unwrap is what failed.
func (f *Failure) Unwrap() error { return f.err }

// ExitCode is the process' exit code.
func (f *Failure) ExitCode() int { return f.Code.ExitCode() }

// code returns the code of errors in both directions, in order of precedence: a stopped run fails in many ways, and an
// unreachable store makes a stream end early.
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
		{errBeside, FilesBesideHome},
		{errNoRoom, HomeTooLarge},
		{encryption.ErrNoIdentity, IdentityMissing},
		{fs.ErrPermission, HomeUnreadable},
	} {
		if errors.Is(err, each.err) {
			otherwise = each.code
			break
		}
	}
	return &Failure{Code: code(err, otherwise), err: err}
}

func restoreFailure(err error) error {
	otherwise := TarExtractFailed
	switch {
	case errors.Is(err, archive.ErrNotFound):
		otherwise = ArchiveNotFound
	case errors.Is(err, archive.ErrCorrupt):
		otherwise = ChecksumMismatch
	case errors.Is(err, encryption.ErrNoIdentity):
		otherwise = IdentityMissing
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

// maxMessage is Kubernetes' limit for a termination message, in bytes.
const maxMessage = 4096

// JSON is the result as a termination message. If it is too long, names are dropped first, then the message is cut.
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

// LeftOutText says in one line what could not be kept; "" for nothing. It is printable, whoever wrote the termination message.
func (r Result) LeftOutText() string {
	return archive.Shown(home.DescribeLeftOut(r.LeftOutKinds, r.LeftOut))
}

// ParseResult parses a termination message. An error means that the mover was killed or never started.
func ParseResult(message string) (Result, error) {
	var result Result
	if err := json.Unmarshal([]byte(message), &result); err != nil || result.Code == "" {
		return Result{}, fmt.Errorf("%.200q is not a mover's result", message)
	}
	return result, nil
}
