package certs

import (
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"kyklos.io/kyklos/internal/golden"
)

func validOptions() Options {
	return Options{
		RESTConfig: &rest.Config{Host: "https://127.0.0.1:1"}, Namespace: "kyklos-system", SecretName: "kyklos-webhook-ca",
		DNSNames: []string{"127.0.0.1"}, Callers: Callers{ValidatingWebhookConfigurations: []string{"kyklos-webhook"}},
	}
}

func TestNewSelfManagedNamesTheWrongOption(t *testing.T) {
	messages := golden.NewMessages(t)
	for name, c := range map[string]struct {
		edit func(*Options)
		want string // the option, empty: accepted
	}{
		"defaults":           {func(*Options) {}, ""},
		"shortest":           {func(o *Options) { o.CADuration, o.LeafDuration = 45*time.Second, 15*time.Second }, ""},
		"only a definition":  {func(o *Options) { o.ValidatingWebhookConfigurations, o.CustomResourceDefinitions = nil, []string{"a"} }, ""},
		"no cluster":         {func(o *Options) { o.RESTConfig = nil }, "RESTConfig"},
		"no namespace":       {func(o *Options) { o.Namespace = "" }, `Namespace ""`},
		"no secret":          {func(o *Options) { o.SecretName = "" }, `SecretName ""`},
		"no name":            {func(o *Options) { o.DNSNames = nil }, "DNSNames"},
		"nothing to publish": {func(o *Options) { o.ValidatingWebhookConfigurations = nil }, "Callers"},
		"leaf too short":     {func(o *Options) { o.LeafDuration = 5 * time.Second }, "LeafDuration"},
		"CA too short":       {func(o *Options) { o.CADuration, o.LeafDuration = 44*time.Second, 6*time.Second }, "CADuration"},
		"leaf too long":      {func(o *Options) { o.LeafDuration = 200 * 24 * time.Hour }, "CADuration"},
		"bad cluster":        {func(o *Options) { o.RESTConfig = &rest.Config{Host: "://"} }, "RESTConfig"},
	} {
		t.Run(name, func(t *testing.T) {
			o := validOptions()
			c.edit(&o)
			_, err := NewSelfManaged(o)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want one about %q", err, c.want)
			}
			if err != nil {
				messages.Add(name, err.Error())
			}
		})
	}
}

func TestPace(t *testing.T) {
	for leaf, want := range map[time.Duration]time.Duration{6 * time.Second: 2 * time.Second, DefaultLeafDuration: time.Minute} {
		if got := (Options{LeafDuration: leaf}).pace(); got != want {
			t.Errorf("leaf of %s: pace %s, want %s", leaf, got, want)
		}
	}
}
