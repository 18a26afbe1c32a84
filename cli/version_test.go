package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"kyklos.io/kyklos/internal/buildinfo"
)

func TestPrintVersion(t *testing.T) {
	of := buildinfo.Read()
	var text, machine bytes.Buffer
	if err := errors.Join(printVersion(&text, of, "text"), printVersion(&machine, of, "json")); err != nil {
		t.Fatal(err)
	}
	var read buildinfo.Info
	if err := json.Unmarshal(machine.Bytes(), &read); err != nil || read != of {
		t.Errorf("%v: %s", err, machine.String())
	}
	for _, part := range []string{"kyklos " + of.Version, "tzdata " + of.TZData, of.Go, of.Platform} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("%q does not say %s", text.String(), part)
		}
	}
}
