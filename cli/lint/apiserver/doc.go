// Package apiserver says of an object of a CustomResourceDefinition what a Kubernetes API server says of it, word for
// word, without one. Where the API server's own code can be called, it is called, in the order of a request:
//
//  1. The strict decoder reads the text: duplicate fields.
//  2. Metadata is read as its Go type, the rest is pruned by the schema: unknown fields. Nulls are dropped, defaults set.
//  3. The status is dropped (create) or kept as it is (update), and system fields are wiped.
//  4. The mutating webhooks of Kyklos fill in what no schema default can; defaults are set again.
//  5. Metadata, the schema, embedded metadata and list types are checked, and, if none of these says that a value is
//     missing, too long or of another type, the CEL rules with the budget of a request.
//  6. Metadata is checked as that of every kind is.
//
// What depends on more than the object is left to others: whether the namespace exists, quota, permissions, policies,
// resource versions, and Kyklos's validating webhooks.
package apiserver
