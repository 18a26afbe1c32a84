// Package apiserver responds to requests for custom resources exactly as a Kubernetes API server does, without one.
// It calls the API server's own code where possible, in the order of a request:
//
//  1. The strict decoder reads the text: duplicate fields.
//  2. Metadata is decoded into its Go type, the rest is pruned by the schema: unknown fields. Nulls are dropped, and
//     defaults set.
//  3. The status is dropped (create) or kept (update), and system fields are wiped.
//  4. The defaulting webhooks of Kyklos are applied, and defaults set again.
//  5. Metadata, the schema, embedded metadata and list types are validated. The CEL rules follow, with the cost budget
//     of a request, unless a value is missing, too long or of the wrong type.
//  6. Metadata is validated as for every kind.
//
// It leaves out what depends on other objects: whether the namespace exists, quota, permissions, policies, resource
// versions, and Kyklos's validating webhooks.
package apiserver
