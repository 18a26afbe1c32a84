package admission

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
)

// fractionPatches write amounts such as cpu: 0.5 as text, with the same digits. A Pod accepts them, but no schema of a
// CustomResourceDefinition does: its type for a number or text allows whole numbers only.
func fractionPatches(resources json.RawMessage) (patches []jsonpatch.JsonPatchOperation) {
	var given map[string]map[string]any
	decoder := json.NewDecoder(bytes.NewReader(resources))
	decoder.UseNumber()
	if decoder.Decode(&given) != nil {
		return nil // the schema refuses it
	}
	for _, list := range []string{"requests", "limits"} {
		for _, name := range slices.Sorted(maps.Keys(given[list])) {
			number, ok := given[list][name].(json.Number)
			if value, err := number.Float64(); ok && err == nil && value != math.Trunc(value) {
				path := "/spec/resources/" + list + "/" + pointerEscapes.Replace(name)
				patches = append(patches, jsonpatch.NewOperation("add", path, number.String()))
			}
		}
	}
	return patches
}

// pointerEscapes are those of a JSON pointer (RFC 6901).
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
