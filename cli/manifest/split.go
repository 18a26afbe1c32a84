package manifest

// Document is a part of a file that stands for itself.
type Document struct {
	// Text is YAML or JSON, and shares its bytes with the file.
	Text []byte
	// Line is the line of the file, from 1, on which Text begins, and Offset the number of bytes before it.
	Line, Offset int
}

// Documents splits the content of a file where Parse does, so that the lines between its documents,
// and those without an object, can be kept as they are.
func Documents(data []byte) []Document {
	var all []Document
	for _, d := range documents(data) {
		all = append(all, Document{Text: d.text, Line: d.line, Offset: d.offset})
	}
	return all
}
