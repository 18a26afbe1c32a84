package manifest

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// newFile is a file with the content that was read.
func newFile(name, path string, data []byte) *File {
	file := &File{Name: name, Path: path, Data: data}
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		file.Encoding, file.Data = "UTF-16LE", toUTF8(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		file.Encoding, file.Data = "UTF-16BE", toUTF8(data[2:], binary.BigEndian)
	}
	return file
}

// toUTF8 reads UTF-16. What is not valid becomes a byte that is not valid either, so that the parser refuses it.
func toUTF8(data []byte, order binary.ByteOrder) []byte {
	const invalid = 0xff
	text := make([]byte, 0, len(data)/2+1)
	for ; len(data) > 1; data = data[2:] {
		r := rune(order.Uint16(data))
		if utf16.IsSurrogate(r) {
			if len(data) < 4 {
				break
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(data[2:]))); r == utf8.RuneError {
				text = append(text, invalid)
				continue
			}
			data = data[2:]
		}
		text = utf8.AppendRune(text, r)
	}
	if len(data) > 0 {
		text = append(text, invalid)
	}
	return text
}
