package manifest

import (
	"bytes"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// newFile is a file with the content that was read.
func newFile(name, path string, data []byte) *File {
	file := &File{Name: name, Path: path, Data: data}
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		file.Encoding, file.Data = "UTF-16LE", toUTF8(data[2:], unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM))
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		file.Encoding, file.Data = "UTF-16BE", toUTF8(data[2:], unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM))
	}
	return file
}

// toUTF8 reads UTF-16. The decoder replaces what is not valid: that becomes a byte which is not valid either, so that the parser refuses it. A
// file may have the replacement itself.
func toUTF8(data []byte, of encoding.Encoding) []byte {
	text, err := of.NewDecoder().Bytes(data)
	if back, wrong := of.NewEncoder().Bytes(text); err != nil || wrong != nil || !bytes.Equal(back, data) {
		return append(text, 0xff)
	}
	return text
}
