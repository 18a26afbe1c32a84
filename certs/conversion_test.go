package certs

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Conversion matters as soon as two versions are served.
func TestConvertedBy(t *testing.T) {
	definition := func(strategy apiextensionsv1.ConversionStrategyType, served ...bool) any {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if strategy != "" {
			crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: strategy}
		}
		for _, s := range served {
			crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Served: s})
		}
		return crd
	}
	for name, tc := range map[string]struct {
		obj  any
		want bool
	}{
		"webhook":             {definition(apiextensionsv1.WebhookConverter, true, true), true},
		"none":                {definition(apiextensionsv1.NoneConverter, true, true), false},
		"not given":           {definition("", true, true), false},
		"one version":         {definition(apiextensionsv1.NoneConverter, true), true},
		"one of two served":   {definition(apiextensionsv1.NoneConverter, true, false), true},
		"no definition":       {nil, true},
		"something else":      {&apiextensionsv1.CustomResourceDefinitionList{}, true},
		"two of three served": {definition(apiextensionsv1.NoneConverter, true, false, true), false},
	} {
		if err := convertedBy(tc.obj); (err == nil) != tc.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
