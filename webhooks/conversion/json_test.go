package conversion

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// byStandard decodes as encoding/json does.
func byStandard(t rapid.TB, raw []byte) (value any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// compareJSON compares each function of json.go with encoding/json. raw is valid.
func compareJSON(t rapid.TB, raw []byte) {
	t.Helper()
	want := byStandard(t, raw)
	if diff := cmp.Diff(want, decode(raw)); diff != "" {
		t.Fatalf("decoded %q (-standard +own)\n%s", raw, diff)
	}
	if got := string(encode(want)); !json.Valid([]byte(got)) || got != string(encodeSlowly(want)) {
		t.Fatalf("encoded %q, standard %q", got, encodeSlowly(want))
	}
	var object map[string]json.RawMessage
	isObject := json.Unmarshal(raw, &object) == nil && object != nil
	split, ok := members(raw)
	if diff := cmp.Diff(object, map[string]json.RawMessage(split)); ok != isObject || ok && diff != "" {
		t.Fatalf("split %q: %t (-standard +own)\n%s", raw, ok, diff)
	}
	if ok && string(compact(encode(document(split)))) != string(encodeSlowly(object)) {
		t.Fatalf("put together %q, standard %q", encode(document(split)), encodeSlowly(object))
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		if diff := cmp.Diff(list, elements(raw)); diff != "" {
			t.Fatalf("split %q (-standard +own)\n%s", raw, diff)
		}
	}
}

// Any JSON is read and written as encoding/json does, with white space or without.
func TestJSONIsReadAsTheStandardReadsIt(t *testing.T) {
	texts := []string{"", "a", `"`, `\`, `\\"`, "{[,:]}", "<&>", "é\u2028", "\x00\x1f\x7f", "\xff", "😀", " \t\n"}
	rapid.Check(t, func(t *rapid.T) {
		for range batch {
			raw := encodeSlowly(mess(t, texts, texts, 4))
			compareJSON(t, raw)
			var spaced bytes.Buffer
			if err := json.Indent(&spaced, raw, "", "\t"); err != nil {
				t.Fatal(err)
			}
			compareJSON(t, []byte(" \r\n"+spaced.String()+" "))
		}
	})
}

// FuzzJSON also reads what encoding/json does not write, such as a name that is escaped or comes twice.
func FuzzJSON(f *testing.F) {
	for _, raw := range []string{`{"a":1,"\u0061":2}`, `{"a":1,"a":[]}`, `["\ud83d\ude00\ud800\/"]`, `[-1.50E+07,true,false,null]`, " { } ", "\"\xff\"", "{\"\xff\":0}", "0", " null "} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if json.Valid(raw) {
			compareJSON(t, raw)
		}
	})
}

// A name is the same name when it is escaped: what v1alpha1 does not show cannot hide behind one.
func TestEscapedNamesAreTheSameNames(t *testing.T) {
	escaped := strings.NewReplacer(`"spec"`, `"\u0073pec"`, `"baselineReplicas"`, `"b\u0061selineReplicas"`, `"apiVersion"`, `"api\u0056ersion"`).Replace(hubObjectText)
	plain, err := ToV1alpha1([]byte(hubObjectText))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ToV1alpha1([]byte(escaped)); err != nil || string(got) != string(plain) {
		t.Errorf("got %s, want %s: %v", got, plain, err)
	}
}
