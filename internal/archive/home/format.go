package home

import "archive/tar"

// format is in the record comment of the home itself, which tools ignore: which digest the marker has. Archives without it hash
// every byte of a file (contentHash.flat).
const (
	formatKey = "comment"
	format    = "kyklos 2"
)

func withFormat(records map[string]string) map[string]string {
	if records == nil {
		records = map[string]string{}
	}
	records[formatKey] = format
	return records
}

// setFormat reads the format from the home's header.
func (s *scanner) setFormat(header *tar.Header) error {
	switch found := header.PAXRecords[formatKey]; found {
	case format:
	case "":
		s.digest.content.flat = true
	default:
		return unsafe("its format %q is unknown to this version", found)
	}
	return nil
}
