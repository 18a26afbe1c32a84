package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// Log keeps what several managers write, for tests to read meanwhile.
type Log struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(p)
}

// String is all that was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}

// Show is an object in a message: as JSON, for %+v prints of a pointer only where it leads.
func Show(object any) string {
	text, err := json.Marshal(object)
	if err != nil {
		return fmt.Sprintf("%+v (%v)", object, err)
	}
	return string(text)
}
