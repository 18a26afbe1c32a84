package main

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// text returns the text of an object with marks. What is for Workspaces in a webhook configuration is under their condition.
func (in *installations) text(m marks, one, other *unstructured.Unstructured) (string, error) {
	text, err := m.byCertificates(one, other)
	if err != nil || one == nil || !strings.HasSuffix(one.GetKind(), "WebhookConfiguration") {
		return text, err
	}
	without := find(in.withoutWorkspaces, fileName(one))
	rest, err := m.byCertificates(onlyWebhooksOf(without, one), onlyWebhooksOf(without, other))
	return merge(text, rest, ifWorkspaces, "not "+ifWorkspaces), err
}

// onlyWebhooksOf returns the configuration with the webhooks that the other one has, too.
func onlyWebhooksOf(kept, configuration *unstructured.Unstructured) *unstructured.Unstructured {
	if configuration == nil || kept == nil {
		return configuration
	}
	names := map[any]bool{}
	for _, webhook := range webhooksOf(kept) {
		names[webhook.(map[string]any)["name"]] = true
	}
	var rest []any
	for _, webhook := range webhooksOf(configuration) {
		if names[webhook.(map[string]any)["name"]] {
			rest = append(rest, webhook)
		}
	}
	configuration = configuration.DeepCopy()
	configuration.Object["webhooks"] = rest
	return configuration
}

func webhooksOf(configuration *unstructured.Unstructured) []any {
	webhooks, _, _ := unstructured.NestedSlice(configuration.Object, "webhooks") // none is of another type
	return webhooks
}

// ofWorkspaces is the condition of an object that is for Workspaces; empty for any other.
func (in *installations) ofWorkspaces(object *unstructured.Unstructured) string {
	name := fileName(object)
	switch {
	case find(in.certManager, name) != nil && find(in.withoutWorkspaces, name) == nil && find(in.someHomes, name) == nil:
		return "and " + ifWorkspaces + " (" + ifAnywhere + ")"
	case find(in.certManager, name) != nil && find(in.withoutWorkspaces, name) == nil,
		object.GetNamespace() == served && find(in.someHomes, name) != nil:
		return ifWorkspaces
	}
	return ""
}

// rangeOf are the namespaces that have the object.
func (in *installations) rangeOf(object *unstructured.Unstructured) string {
	if in.ofWorkspaces(object) != "" {
		return "(.Values.workspaces.namespaces | default .Values.namespaces)"
	}
	return ".Values.namespaces"
}
