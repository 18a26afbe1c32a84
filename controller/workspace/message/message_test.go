package message_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/internal/archive/mover"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/internal/lifecycle"
)

// constants returns the values of a file's string constants whose names start with prefix.
func constants(t *testing.T, path, prefix string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../../..", path), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		found[text] = true
		return true
	})
	return found
}

// The reasons of the API are exactly the codes of the engine.
func TestReasonsAreTheEnginesCodes(t *testing.T) {
	engine := constants(t, "internal/lifecycle/decision.go", "Code")
	if diff := cmp.Diff(engine, constants(t, "apis/v1alpha1/workspace_conditions.go", "Reason")); diff != "" || len(engine) < 40 {
		t.Errorf("(-engine +api)\n%s", diff)
	}
}

var (
	gap  = regexp.MustCompile(`\{\{|!\(|<no value>|  | [,;]| [.]( |$)|=\x60|''`)
	name = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
)

// flaw returns what is wrong with a message.
func flaw(message string) string {
	switch {
	case message == "":
		return "it is empty"
	case gap.MatchString(message):
		return "a field is missing or unknown"
	case !unicode.IsUpper([]rune(message)[0]):
		return "it does not start as a sentence"
	case !strings.HasSuffix(message, "."):
		return "it does not end as a sentence"
	case len(message) > 2048:
		return fmt.Sprintf("it is %d bytes long", len(message))
	default:
		return ""
	}
}

// Every code has a message made of sentences, with every operation and reason.
func TestEveryCodeHasAMessage(t *testing.T) {
	operations := []lifecycle.OperationType{lifecycle.None}
	for _, trait := range lifecycle.Traits() {
		operations = append(operations, trait.Operation)
	}
	for text := range constants(t, "internal/lifecycle/decision.go", "Code") {
		code := lifecycle.Code(text)
		for _, operation := range operations {
			for i, reason := range []lifecycle.Reason{"", lifecycle.Mismatch, lifecycle.Unreachable, lifecycle.ActionFailed, lifecycle.Timeout, lifecycle.DataLost} {
				phase := []lifecycle.State{lifecycle.Pending, lifecycle.Standby, lifecycle.Running}[i%3]
				for _, variant := range variants(code, archived(status(phase, operation)), reason) {
					check(t, variant)
				}
			}
		}
	}
}

// variants are a code with a failure that is retried, with one that is not, or without.
func variants(code lifecycle.Code, before lifecycle.Status, reason lifecycle.Reason) []situation {
	accept := func(ws *v1alpha1.Workspace) {
		ws.Annotations = map[string]string{"kyklos.io/accept-data-loss": volumeUID}
	}
	if reason == "" {
		return []situation{{before: before, code: code, alter: accept}}
	}
	detail := message.Detail{Text: "{name} says no", StatusCode: 503}
	return []situation{
		{before: before, code: code, after: failed(reason, code), detail: detail, alter: accept},
		{before: before, code: code, after: stalled(reason, code), detail: detail, alter: accept},
	}
}

func check(t *testing.T, s situation) {
	t.Helper()
	facts := s.facts()
	written := facts.Status(eight)
	if len(written.Conditions) != 7 {
		t.Errorf("%s: %d conditions", s.code, len(written.Conditions))
	}
	for _, c := range written.Conditions {
		if wrong := flaw(c.Message); wrong != "" || !name.MatchString(c.Reason) || c.ObservedGeneration != 3 || c.LastTransitionTime.IsZero() {
			t.Errorf("%s as %s: %s: %+v", s.code, c.Type, wrong, c)
		}
	}
	if e := written.Error; e != nil {
		if wrong := flaw(e.Message); wrong != "" || e.Code != string(s.code) || len(e.Context) > 16 {
			t.Errorf("%s as status.error: %s: %+v", s.code, wrong, e)
		}
	}
	for _, event := range facts.Events() {
		note, _ := strings.CutSuffix(event.Note, ".")
		if wrong := flaw(note + "."); wrong != "" || !name.MatchString(event.Reason) {
			t.Errorf("%s as an event: %s: %+v", s.code, wrong, event)
		}
	}
	// The messages about an unchanged status stay the same, or a Workspace at rest would be written forever.
	facts.Workspace.Status, facts.Detail = written, message.Detail{}
	again := facts.Status(eight.Add(time.Hour))
	facts.Workspace.Status = again
	if third := facts.Status(eight.Add(2 * time.Hour)); !cmp.Equal(again, third) || !cmp.Equal(written.Error, third.Error) {
		t.Errorf("%s has another message the next time\n%s", s.code, cmp.Diff(again, third))
	}
	if events := facts.Events(); len(events) > 0 {
		t.Errorf("%s is announced again: %+v", s.code, events)
	}
}

// TestMessages compares all messages in some situations with testdata. It is the only test of their wording.
func TestMessages(t *testing.T) {
	messages := golden.NewMessages(t)
	for _, s := range situations() {
		var all strings.Builder
		facts := s.facts()
		written := facts.Status(eight)
		ready := meta.FindStatusCondition(written.Conditions, v1alpha1.ConditionReady)
		fmt.Fprintf(&all, "Ready %s %s: %s\n", ready.Status, ready.Reason, ready.Message)
		if e := written.Error; e != nil {
			context, _ := json.Marshal(e.Context) // strings
			fmt.Fprintf(&all, "error %s %s %s: %s\n  %s\n", e.Reason, e.Operation, e.Code, e.Message, context)
		}
		for _, event := range facts.Events() {
			fmt.Fprintf(&all, "event %s %s: %s\n", event.Type, event.Reason, event.Note)
		}
		messages.Add(s.name, all.String())
	}
	for _, progress := range steps {
		messages.Add(strings.ReplaceAll(fmt.Sprintf("progress %+v", progress), "\n", "\\n"), message.Progress(progress))
	}
	messages.Add("uploaded", message.Uploaded(64*mebi))
}

// Long details are shortened to their end, at a character boundary.
func TestLongDetails(t *testing.T) {
	long := strings.Repeat("é{name}", 5000) + " the end\xff"
	s := situation{
		before: status(lifecycle.Standby, lifecycle.Archiving), code: lifecycle.CodeJobFailed, after: failed(lifecycle.ActionFailed, lifecycle.CodeJobFailed),
		detail: message.Detail{Text: long},
	}
	e := s.facts().Error()
	stderr := e.Context["stderr"]
	if len(e.Message) > 2048 || !utf8.ValidString(e.Message) || !strings.Contains(e.Message, "{name} the end.") {
		t.Errorf("%d bytes: %s", len(e.Message), e.Message)
	}
	if len(stderr) > 520 || !utf8.ValidString(stderr) || !strings.HasPrefix(stderr, "...") || !strings.HasSuffix(stderr, "{name} the end") {
		t.Errorf("%d bytes: %s", len(stderr), stderr)
	}
}

// The details are kept when the state becomes ERROR, and the message gets the command to retry.
func TestDetailsAreKeptInERROR(t *testing.T) {
	code := int32(11)
	s := situation{before: status(lifecycle.Standby, lifecycle.Archiving), code: lifecycle.CodeJobFailed, after: failed(lifecycle.ActionFailed, lifecycle.CodeJobFailed)}
	s.detail = message.Detail{Text: "it burns", Code: "TAR_CREATE_FAILED", ExitCode: &code}
	for _, later := range []time.Duration{0, time.Minute} {
		facts := s.facts()
		facts.Workspace.Status = facts.Status(eight)
		before := *facts.Workspace.Status.Error
		facts.Detail = message.Detail{}
		stalled(lifecycle.ActionFailed, lifecycle.CodeJobFailed)(&facts.Decision.Status)
		facts.Decision.Status.Error.OccurredAt = eight.Add(later)
		after := facts.Error()
		if diff := cmp.Diff(before.Context, after.Context); diff != "" || len(after.Context) != 5 || !strings.Contains(after.Message, "Cause: it burns. ") ||
			!strings.Contains(after.Message, "kyklos.io/retry") || !after.OccurredAt.Time.Equal(eight.Add(later)) ||
			facts.Events()[0].Note != after.Message {
			t.Errorf("%s later: %+v\n%s", later, after, diff)
		}
	}
}

// Every result of a mover has a code of the right class: nothing that is unreachable counts as lost (D23).
func TestEveryResultOfAMoverHasACode(t *testing.T) {
	known := constants(t, "apis/v1alpha1/workspace_conditions.go", "Reason")
	lost := map[lifecycle.Code]bool{lifecycle.CodeArchiveLost: true, lifecycle.CodeArchiveCorrupt: true, lifecycle.CodeVolumeLost: true}
	away := map[lifecycle.Code]bool{lifecycle.CodeStoreUnreachable: true, lifecycle.CodeBucketMissing: true}
	for _, result := range []mover.Code{
		"", mover.ArchiveNotFound, mover.MetaNotFound, mover.ChecksumMismatch, mover.StoreAccess, mover.BucketMissing, mover.ArchiveUnverified,
		mover.HomeChanged, mover.HomeUnreadable, mover.FilesBesideHome, mover.HomeTooLarge, mover.IdentityMissing, mover.HomeMissing, mover.HomeExists, mover.VolumeMismatch, mover.VolumeBusy, mover.ArchiveTooLarge,
		mover.DiskFull, mover.TarCreateFailed, mover.TarExtractFailed, mover.Cancelled,
	} {
		code := message.CodeOf(result)
		if !known[string(code)] || lost[code] != (result.Reason() == mover.DataLost) || away[code] != (result.Reason() == mover.Unreachable) {
			t.Errorf("%s, which is %s, has the code %s", result, result.Reason(), code)
		}
		facts := situation{
			before: status(lifecycle.Standby, lifecycle.Archiving), code: code, after: failed(lifecycle.Reason(result.Reason()), code), detail: message.Detail{Code: string(result)},
		}.facts()
		if wrong := flaw(facts.Error().Message); wrong != "" {
			t.Errorf("%s: %s: %s", result, wrong, facts.Error().Message)
		}
	}
}
