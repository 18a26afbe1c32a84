package home

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"strconv"
	"strings"
)

// A file with holes is a GNU sparse file in PAX format 1.0: a map of its data, and the data. GNU tar, bsdtar and Go read it. Go
// neither writes it nor lets a reader skip the holes, so while Go handles the header, its keys have another prefix of the same
// length.
const (
	gnuSparse = "GNU.sparse."
	ownSparse = "KYK.sparse."
)

const (
	blockSize512 = 512
	// maxRecords is Go's limit for the records of a header, and for a map.
	maxRecords = 1 << 20
)

// writeSparse writes the header and the map of a file with holes. Its data follow, up to a whole block.
func writeSparse(w io.Writer, header *tar.Header, regions []region) error {
	text := sparseMap(regions, header.Size)
	sparse := *header
	sparse.Name = path.Join(path.Dir(header.Name), "GNUSparseFile.0", path.Base(header.Name))
	sparse.Size = int64(len(text)) + dataBytes(regions)
	sparse.PAXRecords = map[string]string{
		ownSparse + "major": "1", ownSparse + "minor": "0", ownSparse + "name": header.Name,
		ownSparse + "realsize": strconv.FormatInt(header.Size, 10),
	}
	maps.Copy(sparse.PAXRecords, header.PAXRecords)
	var raw bytes.Buffer
	if err := tar.NewWriter(&raw).WriteHeader(&sparse); err != nil {
		return err
	}
	if err := renameKeys(raw.Bytes()[blockSize512:raw.Len()-blockSize512], ownSparse, gnuSparse); err != nil {
		return err
	}
	raw.Write(text)
	_, err := w.Write(raw.Bytes())
	return err
}

// sparseMap is the number of regions, and each one's offset and length, up to a whole block. The last one ends at the file's end.
func sparseMap(regions []region, size int64) []byte {
	if last := len(regions) - 1; last < 0 || regions[last].end < size {
		regions = append(regions[:len(regions):len(regions)], region{size, size})
	}
	text := fmt.Appendf(nil, "%d\n", len(regions))
	for _, r := range regions {
		text = fmt.Appendf(text, "%d\n%d\n", r.start, r.end-r.start)
	}
	return append(text, make([]byte, padding(int64(len(text))))...)
}

// padding is what an entry of n bytes lacks to whole blocks.
func padding(n int64) int64 { return -n & (blockSize512 - 1) }

// renameKeys changes the prefix of keys in the records of a PAX header; both prefixes have the same length.
func renameKeys(records []byte, from, to string) error {
	for len(records) > 0 && records[0] != 0 {
		digits, rest, ok := bytes.Cut(records, []byte(" "))
		n, err := strconv.Atoi(string(digits))
		if !ok || err != nil || n <= len(digits)+1 || n > len(records) {
			return tar.ErrHeader
		}
		if record := rest[:n-len(digits)-1]; bytes.HasPrefix(record, []byte(from)) {
			copy(record, to)
		}
		records = records[n:]
	}
	return nil
}

// entries reads the entries of a tar.
type entries struct {
	stream io.Reader
	pad    int64 // after the last entry
}

// next returns the next entry with its regions; their data follow in the reader. The data of the one before must have been read.
func (e *entries) next() (*tar.Header, []region, io.Reader, error) {
	if _, err := io.CopyN(io.Discard, e.stream, e.pad); err != nil {
		return nil, nil, nil, unexpected(err)
	}
	ahead, err := e.ahead()
	if err != nil {
		return nil, nil, nil, err
	}
	content := tar.NewReader(io.MultiReader(bytes.NewReader(ahead), e.stream))
	header, err := content.Next()
	if err != nil {
		return nil, nil, nil, err
	}
	e.pad = padding(header.Size)
	regions, err := regionsOf(header, content)
	return header, regions, content, err
}

// ahead reads the next block, and the records of a PAX header, whose keys it renames.
func (e *entries) ahead() ([]byte, error) {
	block := make([]byte, blockSize512)
	n, err := io.ReadFull(e.stream, block)
	if errors.Is(err, io.EOF) {
		return nil, nil // the end is Go's to judge
	}
	if err != nil || block[156] != tar.TypeXHeader {
		return block[:n], err
	}
	size, err := strconv.ParseInt(strings.Trim(string(block[124:136]), " \x00"), 8, 64)
	if err != nil || size < 0 || size > maxRecords {
		return nil, tar.ErrHeader
	}
	all := append(block, make([]byte, size+padding(size))...)
	if _, err := io.ReadFull(e.stream, all[blockSize512:]); err != nil {
		return nil, unexpected(err)
	}
	return all, renameKeys(all[blockSize512:blockSize512+size], gnuSparse, ownSparse)
}

// regionsOf returns the regions of an entry, and gives a file with holes its own name and size.
func regionsOf(header *tar.Header, content io.Reader) ([]region, error) {
	get := func(key string) string {
		value := header.PAXRecords[ownSparse+key]
		delete(header.PAXRecords, ownSparse+key)
		return value
	}
	major, minor, name, length := get("major"), get("minor"), get("name"), get("realsize")
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, ownSparse) || strings.HasPrefix(key, gnuSparse) {
			return nil, unsafe("its holes are not described as Kyklos does: %s", key)
		}
	}
	if major+minor+name+length == "" {
		return []region{{0, header.Size}}, nil
	}
	size, err := strconv.ParseInt(length, 10, 64)
	if major != "1" || minor != "0" || err != nil || size < 0 || header.Typeflag != tar.TypeReg {
		return nil, unsafe("its holes are not described as Kyklos does")
	}
	regions, read, err := readMap(content, size)
	if err != nil {
		return nil, err
	}
	if dataBytes(regions) != header.Size-read {
		return nil, unsafe("the map of its holes does not fit its data")
	}
	header.Name, header.Size = name, size
	return regions, nil
}

// readMap is sparseMap's inverse, and returns how many bytes it read.
func readMap(content io.Reader, size int64) (regions []region, read int64, err error) {
	block := make([]byte, blockSize512)
	var text []byte
	number := func() int64 {
		for err == nil {
			if line, rest, ok := bytes.Cut(text, []byte("\n")); ok {
				var n int64
				n, err = strconv.ParseInt(string(line), 10, 64)
				text = rest
				return n
			}
			if read += blockSize512; read > maxRecords {
				err = unsafe("the map of its holes is too long")
			} else if _, err = io.ReadFull(content, block); err == nil {
				text = append(text, block...)
			}
		}
		return 0
	}
	var last int64
	for count := number(); count > 0 && err == nil; count-- {
		start, length := number(), number()
		if err == nil && (start < last || start > size || length < 0 || length > size-start) {
			err = unsafe("the map of its holes is out of order")
		}
		last = start + length
		regions = append(regions, region{start, last})
	}
	return regions, read, unexpected(err)
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
