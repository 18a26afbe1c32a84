package message

import (
	"fmt"

	"kyklos.io/kyklos/internal/archive"
)

// Progress describes how far a mover is; "" for an unknown step.
func Progress(p archive.Progress) string {
	switch p.Step {
	case archive.Packing:
		if p.OfBytes == 0 {
			return fmt.Sprintf("%s read, %d files and folders", size(p.Bytes), p.Entries)
		}
		return fmt.Sprintf("%s of about %s read, %d files and folders", size(p.Bytes), size(p.OfBytes), p.Entries)
	case archive.Verifying:
		return fmt.Sprintf("all read; %s of %s%s read back from the store and compared", size(p.Bytes), size(p.OfBytes), percent(p))
	case archive.Unpacking:
		return fmt.Sprintf("%s of %s%s unpacked, %d of %d files and folders", size(p.Bytes), size(p.OfBytes), percent(p), p.Entries, p.OfEntries)
	}
	return ""
}

// percent is the share of the bytes that are done; "" if there are none.
func percent(p archive.Progress) string {
	if p.OfBytes == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d %%)", int(100*float64(min(p.Bytes, p.OfBytes))/float64(p.OfBytes)))
}

// Uploaded describes how much of a home the store has, if nothing else is known.
func Uploaded(bytes int64) string { return size(bytes) + " uploaded" }

// Percent is how much of all its steps a mover has done; 0 if that is not known. An archive is packed, and then read back.
func Percent(p archive.Progress) int32 {
	if p.OfBytes <= 0 {
		return 0
	}
	share := max(0, min(1, float64(p.Bytes)/float64(p.OfBytes)))
	switch p.Step {
	case archive.Packing:
		return int32(50 * share)
	case archive.Verifying:
		return int32(50 + 50*share)
	case archive.Unpacking:
		return int32(100 * share)
	}
	return 0
}
