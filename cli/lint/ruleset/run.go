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
	ctrl "sigs.k8s.io/controller-runtime"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/lint/policy"
	"kyklos.io/kyklos/cli/manifest"
)

// Options are what a set is checked against.
type Options struct {
	Server *apiserver.Server
	// Namespace is for objects without one; "" if it is not known.
	Namespace string
	// Old are the objects that the set updates, matched by kind, namespace and name; nil if all are new.
	Old *manifest.Set
	// Cluster is where the set will be applied; nil if it is not known.
	Cluster *Cluster
	// Policies are the ValidatingAdmissionPolicies for objects of any kind; nil for none.
	Policies *policy.Policies
	// Now decides which clock changes and holidays are upcoming.
	Now time.Time
}

// Result is what Run returns.
type Result struct {
	// Findings are in the order of the set's files and of their lines.
	Findings []lint.Finding
	Summary  lint.Summary
	// Notes are what could not be read, one sentence each.
	Notes []string
}

// Run checks all objects of the set.
func Run(ctx context.Context, set *manifest.Set, options Options) (*Result, error) {
	ctx = ctrl.LoggerInto(ctx, logr.Discard()) // facts that cannot be read are in Notes
	unread, kinds := &unread{failed: make(map[string]error)}, newKindSource(set, options)
	result, checked, reported := &Result{}, make(map[*manifest.Object]bool), make(map[lint.Finding]bool)
	for _, part := range set.Parts() {
		r := &run{Options: options, members: membersOf(part, options), kinds: kinds, unread: unread}
		if err := r.check(ctx); err != nil {
			return nil, err
		}
		for _, m := range r.members {
			checked[m.object] = m.checked
			for _, finding := range m.findings {
				if !reported[finding] { // objects in two parts are checked twice
					reported[finding] = true
					result.Findings = append(result.Findings, finding)
				}
			}
		}
	}
	sortFindings(set, result.Findings)
	result.Summary, result.Notes = summary(set, checked), unread.notes()
	return result, nil
}

// check checks the objects that are applied together.
func (r *run) check(ctx context.Context) error {
	if err := r.each(ctx, r.request); err != nil {
		return err
	}
	r.inventory = newInventory(r.members, r.Options, r.kinds, r.unread)
	r.inventory.load(ctx)
	if err := r.each(ctx, r.callWebhooks); err != nil {
		return err
	}
	for _, m := range r.members {
		r.checkConflicts(ctx, m)
		r.checkPolicies(ctx, m)
	}
	return nil
}

// run checks objects that are applied together.
type run struct {
	Options
	members   []*member
	inventory *inventory
	kinds     *kindSource
	unread    *unread
}

// each calls do for all members in parallel.
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

// request sends an object to the API server.
func (r *run) request(ctx context.Context, m *member) {
	if !r.Server.Knows(m.object.GroupVersionKind()) {
		return
	}
	r.findOld(ctx, m)
	namespace := r.Namespace
	if namespace == "" {
		namespace = manifest.Default
	}
	var response apiserver.Response
	if m.old == nil {
		response = r.Server.Create(m.object, namespace)
	} else {
		m.before = m.old.Object
		if !m.stored { // a manifest lacks the defaults of the stored object
			if before := r.Server.Create(m.old, namespace).Object; before != nil {
				m.before = before
			}
		}
		response = r.Server.Update(m.old, m.object, namespace)
	}
	m.checked, m.seen, m.refused = true, response.Object, len(response.Errors) > 0
	for _, e := range r.reworded(m.object, response.Errors) {
		if e.RulesSkipped {
			m.add(lint.Warning, lint.Invalid, "", rulesSkipped)
			continue
		}
		m.add(lint.Error, e.Rule, strings.TrimPrefix(e.Field, "<nil>"), e.Message)
	}
	m.checkOctal(r.Server.Schema(m.object.GroupVersionKind()))
	for _, warning := range response.Warnings {
		field, message := splitWarning(warning)
		m.add(lint.Warning, lint.Warned, field, message)
	}
	m.read()
}

// rulesSkipped is reported instead of the API server's message.
const rulesSkipped = "some validation rules were not checked because the object was invalid: correct the errors and lint again"

// findOld reads the object that is updated from the cluster, unless it is given.
func (r *run) findOld(ctx context.Context, m *member) {
	if m.old == nil && r.Old == nil && r.Cluster != nil && m.object.Name() != "" {
		old, err := r.Cluster.object(ctx, m.object, r.Namespace)
		r.unread.fail(plural(m.at.Kind), err)
		m.old, m.stored = old, old != nil
	}
}

// checkPolicies evaluates the policies for an object that the API server accepts.
func (r *run) checkPolicies(ctx context.Context, m *member) {
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
	m.findings = append(m.findings, r.Policies.Evaluate(ctx, request)...)
}

func summary(set *manifest.Set, checked map[*manifest.Object]bool) (s lint.Summary) {
	files := make(map[*manifest.File]bool)
	for _, object := range set.Objects {
		files[object.File] = true
		if checked[object] {
			s.Checked = append(s.Checked, object)
		} else {
			s.Skipped++
		}
	}
	s.Files = len(files)
	return s
}

// sortFindings sorts by file, in the order of the set, and by line.
func sortFindings(set *manifest.Set, findings []lint.Finding) {
	order := make(map[*manifest.File]int)
	for i, object := range set.Objects {
		order[object.File] = i
	}
	slices.SortStableFunc(findings, func(a, b lint.Finding) int {
		return cmp.Or(cmp.Compare(order[a.Object.File], order[b.Object.File]), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
}
