// Package convert rewrites manifests from one API version of TimeWindowScaler to another. What an
// object says afterwards is what the conversion webhook makes of it; how it is written stays as it was.
//
// edit.go compares the object before and after, and turns each difference into the smallest change of
// the text: another scalar, a key less, a key more. source.go knows where in the text a node of YAML
// begins and ends. The result is read again, as the API server reads it. Where it is not what the
// webhook says, as with anchors and merge keys, more is written anew, until it is (rewrite.go).
package convert
