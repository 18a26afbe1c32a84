package ruleset

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/lint/policy"
	"kyklos.io/kyklos/cli/manifest"
)

// Server says what the API server says of single objects: *apiserver.Server.
type Server interface {
	Knows(kind schema.GroupVersionKind) bool
	Create(object *manifest.Object, namespace string) apiserver.Verdict
	Update(old, object *manifest.Object, namespace string) apiserver.Verdict
}

// Options are what a set is judged by.
type Options struct {
	Server Server
	// Namespace is that of objects that name none; "" is one that is not known.
	Namespace string
	// Old holds what the objects of the set replace, by kind, namespace and name; nil if they are new.
	Old *manifest.Set
	// Cluster is what else there is; nil if nobody knows.
	Cluster *Cluster
	// Policies are the organisation's own rules, for objects of any kind; nil for none.
	Policies *policy.Policies
	// Now decides which clock changes and holidays lie ahead.
	Now time.Time
}

// Result is what was found.
type Result struct {
	// Findings stand in the order of the set's files and of the lines in them.
	Findings []lint.Finding
	Summary  lint.Summary
	// Notes say what could not be found out, one sentence each.
	Notes []string
}

// Run judges all objects of the set.
func Run(ctx context.Context, set *manifest.Set, options Options) (*Result, error) {
	ctx = ctrl.LoggerInto(ctx, logr.Discard()) // facts that cannot be read are told in Notes
	unread, kinds := &unread{failed: make(map[string]error)}, newKindSource(set, options)
	result, judged, said := &Result{}, make(map[*manifest.Object]bool), make(map[lint.Finding]bool)
	for _, part := range set.Parts() {
		r := &run{Options: options, members: membersOf(part, options), kinds: kinds, unread: unread}
		if err := r.judge(ctx); err != nil {
			return nil, err
		}
		for _, m := range r.members {
			judged[m.object] = m.judged
			for _, finding := range m.findings {
				if !said[finding] { // what is in two parts is judged twice
					said[finding] = true
					result.Findings = append(result.Findings, finding)
				}
			}
		}
	}
	sortFindings(set, result.Findings)
	result.Summary, result.Notes = summary(set, judged), unread.notes()
	return result, nil
}

// judge judges the objects that are applied together.
func (r *run) judge(ctx context.Context) error {
	if err := r.each(ctx, r.verdict); err != nil {
		return err
	}
	r.inventory = newInventory(r.members, r.Options, r.kinds, r.unread)
	r.inventory.load(ctx)
	if err := r.each(ctx, r.rules); err != nil {
		return err
	}
	for _, m := range r.members {
		r.together(ctx, m)
		r.policies(ctx, m)
	}
	return nil
}

// run is one judgement of objects that are applied together.
type run struct {
	Options
	members   []*member
	inventory *inventory
	kinds     *kindSource
	unread    *unread
}

// each does something with all members, on all processors.
func (r *run) each(ctx context.Context, do func(context.Context, *member)) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, m := range r.members {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			do(ctx, m)
			return nil
		})
	}
	return group.Wait()
}

// unchecked is said by an API server beside errors for which it did not go on to the CEL rules.
const unchecked = "some validation rules were not checked because the object was invalid"

// verdict asks the API server.
func (r *run) verdict(ctx context.Context, m *member) {
	if !r.Server.Knows(m.object.GroupVersionKind()) {
		return
	}
	r.findOld(ctx, m)
	namespace := r.Namespace
	if namespace == "" {
		namespace = manifest.Default
	}
	var verdict apiserver.Verdict
	if m.old == nil {
		verdict = r.Server.Create(m.object, namespace)
	} else {
		m.before = m.old.Object
		if !m.stored { // a manifest lacks the defaults that its object is stored with
			if before := r.Server.Create(m.old, namespace).Object; before != nil {
				m.before = before
			}
		}
		verdict = r.Server.Update(m.old, m.object, namespace)
	}
	m.judged, m.seen, m.refused = true, verdict.Object, len(verdict.Errors) > 0
	for _, e := range verdict.Errors {
		if strings.Contains(e.Message, unchecked) {
			m.add(lint.Warning, lint.Invalid, "", unchecked+": correct the errors and lint again")
			continue
		}
		m.add(lint.Error, lint.Rule(e.Rule), strings.TrimPrefix(e.Field, "<nil>"), e.Message)
	}
	for _, warning := range verdict.Warnings {
		m.warn(lint.Warned, warning)
	}
	m.read()
}

// findOld asks the cluster for what an object replaces, unless somebody has said it.
func (r *run) findOld(ctx context.Context, m *member) {
	if m.old == nil && r.Old == nil && r.Cluster != nil && m.object.Name() != "" {
		old, err := r.Cluster.object(ctx, m.object, r.Namespace)
		r.unread.fail(plural(m.at.Kind), err)
		m.old, m.stored = old, old != nil
	}
}

// policies asks the organisation's, as an API server does of what it would otherwise take.
func (r *run) policies(ctx context.Context, m *member) {
	if m.refused {
		return
	}
	request := policy.Request{Object: m.object, Namespace: r.Namespace, New: m.seen}
	if request.Namespace == "" {
		request.Namespace = manifest.Default
	}
	if request.New == nil {
		request.New = m.object.Object
	}
	if request.Old = m.before; m.before == nil && m.old != nil {
		request.Old = m.old.Object
	}
	m.findings = append(m.findings, r.Policies.Judge(ctx, request)...)
}

// summary says what was looked at.
func summary(set *manifest.Set, judged map[*manifest.Object]bool) (s lint.Summary) {
	files := make(map[*manifest.File]bool)
	for _, object := range set.Objects {
		files[object.File] = true
		if judged[object] {
			s.Judged = append(s.Judged, object)
		} else {
			s.Foreign++
		}
	}
	s.Files = len(files)
	return s
}

// sortFindings puts them in the order of files, as those come in the set, and of lines.
func sortFindings(set *manifest.Set, findings []lint.Finding) {
	order := make(map[*manifest.File]int)
	for i, object := range set.Objects {
		order[object.File] = i
	}
	slices.SortStableFunc(findings, func(a, b lint.Finding) int {
		return cmp.Or(cmp.Compare(order[a.Object.File], order[b.Object.File]), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
}
