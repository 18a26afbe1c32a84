package apiserver

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/endpoints/request"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/webhooks/conversion"
)

// stored returns old as stored in the server, in version v of the request.
func (s *Server) stored(ctx context.Context, v *version, old *manifest.Object) (*unstructured.Unstructured, error) {
	from, err := s.version(old)
	if err != nil {
		return nil, err
	}
	if from.kind.GroupKind() != v.kind.GroupKind() {
		return nil, fmt.Errorf("cannot update a %s to a %s", from.kind.Kind, v.kind.Kind)
	}
	object := old.Unstructured().DeepCopy()
	if _, err := from.coerce(object, true); err != nil {
		return nil, err
	}
	defaulting.Default(object.Object, from.Structural)
	object.SetNamespace(request.NamespaceValue(ctx))
	object.SetManagedFields(nil)
	if err := s.mutate(ctx, from, object, nil); err != nil {
		return nil, err
	}
	if err := convert(object, v); err != nil {
		return nil, err
	}
	setSystemFields(object)
	object.SetResourceVersion("1")
	return object, nil
}

// convert converts a stored object to version v, as the conversion webhook does.
func convert(object *unstructured.Unstructured, v *version) error {
	if object.GroupVersionKind() == v.kind {
		return nil
	}
	if v.kind.GroupKind() == v1beta1.GroupKind {
		steps := map[string]func([]byte) ([]byte, error){
			v1beta1.GroupVersion.Version:  conversion.ToV1beta1,
			v1alpha1.GroupVersion.Version: conversion.ToV1alpha1,
		}
		if step := steps[v.kind.Version]; step != nil {
			if err := rewrite(object, step); err != nil {
				return err
			}
		}
	}
	object.SetGroupVersionKind(v.kind)
	_, err := v.coerce(object, true)
	return err
}

// rewrite replaces the object by the result of step for its JSON.
func rewrite(object *unstructured.Unstructured, step func([]byte) ([]byte, error)) error {
	raw, err := utiljson.Marshal(object.Object)
	if err != nil {
		return err
	}
	if raw, err = step(raw); err != nil {
		return err
	}
	var content map[string]any
	if err := utiljson.Unmarshal(raw, &content); err != nil {
		return err
	}
	object.Object = content
	return nil
}
