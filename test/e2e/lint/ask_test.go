package lint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"kyklos.io/kyklos/cli/manifest"
)

// trial is a question to the API server: may this object be created, or replace that?
type trial struct {
	name string
	// object is what is asked about; old is what it is to replace, nil for a creation.
	object, old *manifest.Object
	// real is a creation without a dry run.
	real bool
	// unreadable is why the command line cannot read the object, nil if it can.
	unreadable *manifest.Problem
	// answer is what the API server says.
	answer answer

	resourceVersion string // of old in the cluster
}

// answer is what the API server says.
type answer struct {
	code     int
	refusals []refusal
	warnings []string
	object   map[string]any // what it would store
	text     string         // all of it, for people
}

// refusal is a reason. Where the server names no field apart from the message, Field is "-".
type refusal struct{ Field, Message string }

func (r refusal) String() string { return r.Field + ": " + r.Message }

// namespace is that of objects that name none.
const namespace = "other"

type asker struct {
	server *rest.Config
	client *http.Client
	kinds  func() (map[schema.GroupVersionKind]bool, error) // that the server has
}

func newAsker() (*asker, error) {
	client, err := rest.HTTPClientFor(cluster.Config)
	return &asker{cluster.Config, client, sync.OnceValues(served)}, err
}

// served asks the server which kinds of Kyklos it has, as kubectl does before all else.
func served() (map[schema.GroupVersionKind]bool, error) {
	all := map[schema.GroupVersionKind]bool{}
	discovered, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	if err != nil {
		return nil, err
	}
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		list, err := discovered.ServerResourcesForGroupVersion("kyklos.io/" + version)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			all[schema.FromAPIVersionAndKind("kyklos.io/"+version, resource.Kind)] = true
		}
	}
	return all, nil
}

// each calls do for the trials, several at a time.
func (*asker) each(all []*trial, do func(*trial) error) error {
	var group errgroup.Group
	group.SetLimit(6)
	for _, trial := range all {
		group.Go(func() error {
			if err := do(trial); err != nil {
				return fmt.Errorf("%s: %w", trial.name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// store creates what the trial is to replace.
func (a *asker) store(t *trial) error {
	if t.old == nil {
		return nil
	}
	said, err := a.send(http.MethodPost, path(t.old, "")+"?fieldValidation=Ignore", t.old.Raw)
	if err != nil {
		return err
	}
	if said.code != http.StatusCreated {
		return errors.New(said.text)
	}
	t.resourceVersion = said.object["metadata"].(map[string]any)["resourceVersion"].(string)
	return nil
}

func (a *asker) ask(t *trial) (err error) {
	kinds, err := a.kinds()
	if err != nil {
		return err
	}
	if kind := t.object.GroupVersionKind(); !kinds[kind] {
		t.answer.refusals = []refusal{{"apiVersion", (&meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}).Error()}}
		t.answer.code = http.StatusNotFound
		return nil
	}
	if t.old == nil && t.real {
		t.answer, err = a.send(http.MethodPost, path(t.object, "")+"?fieldValidation=Strict", t.object.Raw)
		return err
	}
	if t.old == nil {
		t.answer, err = a.create(t.object)
		return err
	}
	var body map[string]any
	if err := utiljson.Unmarshal(t.object.Raw, &body); err != nil {
		return err
	}
	body["metadata"].(map[string]any)["resourceVersion"] = t.resourceVersion
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	t.answer, err = a.send(http.MethodPut, path(t.object, t.object.Name())+"?dryRun=All&fieldValidation=Strict", text)
	return err
}

func (a *asker) create(object *manifest.Object) (answer, error) {
	return a.send(http.MethodPost, path(object, "")+"?dryRun=All&fieldValidation=Strict", object.Raw)
}

func path(object *manifest.Object, name string) string {
	kind := object.GroupVersionKind()
	folder := fmt.Sprintf("/apis/%s/%s/namespaces/%s/%ss", kind.Group, kind.Version, object.Key(namespace).Namespace, strings.ToLower(kind.Kind))
	return strings.TrimSuffix(folder+"/"+name, "/")
}

// send sends a text as it is.
func (a *asker) send(method, path string, body []byte) (answer, error) {
	request, err := http.NewRequest(method, a.server.Host+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", "application/yaml")
	if json.Valid(body) {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Accept", "application/json")
	response, err := a.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	said := answer{code: response.StatusCode, text: string(text)}
	headers, errs := utilnet.ParseWarningHeaders(response.Header["Warning"])
	if len(errs) > 0 {
		return answer{}, fmt.Errorf("warnings: %v", errs)
	}
	for _, header := range headers {
		said.warnings = append(said.warnings, header.Text)
	}
	if said.code < 300 {
		return said, utiljson.Unmarshal(text, &said.object)
	}
	if said.code == http.StatusNotFound { // not even in JSON
		return said, nil
	}
	var status metav1.Status
	if err := json.Unmarshal(text, &status); err != nil {
		return answer{}, fmt.Errorf("%w: %s", err, text)
	}
	said.text, said.refusals = status.Message, refusals(&status)
	return said, nil
}

var (
	decoding = regexp.MustCompile(`^\w+ in version "\w+" cannot be handled as a \w+: `)
	twice    = regexp.MustCompile(`line \d+: (key ".*" already set in map)`)
	fault    = regexp.MustCompile(`(?:^|, )(unknown|duplicate) field "`)
)

// refusals takes an answer apart.
func refusals(status *metav1.Status) (all []refusal) {
	if status.Details != nil && len(status.Details.Causes) > 0 {
		for _, cause := range status.Details.Causes {
			if r := (refusal{cause.Field, cause.Message}); !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
		return all
	}
	text := decoding.ReplaceAllString(status.Message, "")
	strict, ok := strings.CutPrefix(text, "strict decoding error: ")
	if !ok {
		return []refusal{{"-", text}}
	}
	for _, match := range twice.FindAllStringSubmatch(strict, -1) {
		all = append(all, refusal{"-", match[1]})
	}
	found := fault.FindAllStringSubmatchIndex(strict, -1)
	for i, at := range found {
		end := len(strict)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		all = append(all, refusal{strings.TrimSuffix(strict[at[1]:end], `"`), strict[at[2]:at[3]] + " field"})
	}
	return all
}
