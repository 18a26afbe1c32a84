package certs

import (
	"errors"
	"fmt"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"kyklos.io/kyklos/internal/metrics"
)

// Converts implements Serving.
func (s *SelfManaged) Converts(*http.Request) error { return s.publisher.targets.converted() }

// Converts implements Serving.
func (m *Mounted) Converts(*http.Request) error { return m.targets.converted() }

// converted returns why the API server would not call a conversion webhook. A definition that is not there, or not read
// yet, is no reason.
func (all targets) converted() error {
	var errs []error
	for _, target := range all {
		errs = append(errs, convertedBy(target.get()))
	}
	return errors.Join(errs...)
}

// convertedBy returns why the API server would not convert between the versions of a definition.
func convertedBy(obj any) error {
	crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
	if !ok || crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter {
		return nil
	}
	served := 0
	for _, v := range crd.Spec.Versions {
		if v.Served {
			served++
		}
	}
	if served < 2 {
		return nil
	}
	return fmt.Errorf("CustomResourceDefinition %q has spec.conversion.strategy None: the API server drops the fields that the version of a request lacks; apply the definition of this release again", crd.Name)
}

// recordConversion publishes whether the API server converts a definition's objects.
func recordConversion(target *object) {
	if crd, ok := target.get().(*apiextensionsv1.CustomResourceDefinition); ok {
		metrics.RecordConversionDisabled(crd.Name, convertedBy(crd) != nil)
	}
}
