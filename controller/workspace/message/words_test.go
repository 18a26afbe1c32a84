package message_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
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
	"kyklos.io/kyklos/internal/lifecycle"
)

var update = flag.Bool("update", false, "rewrite testdata")

// constants returns the values of a file's string constants whose names begin with prefix.
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

// TestReasonsAreTheEnginesWords: the API's contract names each word of the engine, and nothing else.
func TestReasonsAreTheEnginesWords(t *testing.T) {
	engine := constants(t, "internal/lifecycle/decision.go", "Code")
	if diff := cmp.Diff(engine, constants(t, "apis/v1alpha1/workspace_conditions.go", "Reason")); diff != "" || len(engine) < 40 {
		t.Errorf("(-engine +api)\n%s", diff)
	}
}

var (
	gap  = regexp.MustCompile(`\{[a-zA-Z]+\}|  | [,;]| [.]( |$)|=\x60|''`)
	name = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
)

// sound reports what is wrong with a message.
func sound(message string) string {
	switch {
	case message == "":
		return "nothing is said"
	case gap.MatchString(message):
		return "a fact is missing"
	case !unicode.IsUpper([]rune(message)[0]):
		return "it does not begin as a sentence"
	case !strings.HasSuffix(message, "."):
		return "it does not end as a sentence"
	case len(message) > 2048:
		return fmt.Sprintf("it is %d bytes long", len(message))
	default:
		return ""
	}
}

// TestEveryWordIsSaidInEverySituation: whatever the engine says, and whenever, it becomes sentences.
func TestEveryWordIsSaidInEverySituation(t *testing.T) {
	operations := []lifecycle.OperationType{lifecycle.None}
	for _, trait := range lifecycle.Traits() {
		operations = append(operations, trait.Operation)
	}
	for text := range constants(t, "internal/lifecycle/decision.go", "Code") {
		word := lifecycle.Code(text)
		for _, operation := range operations {
			for i, reason := range []lifecycle.Reason{"", lifecycle.Mismatch, lifecycle.Unreachable, lifecycle.ActionFailed, lifecycle.Timeout, lifecycle.DataLost} {
				phase := []lifecycle.State{lifecycle.Pending, lifecycle.Standby, lifecycle.Running}[i%3]
				for _, told := range tellings(word, archived(status(phase, operation)), reason) {
					judge(t, told)
				}
			}
		}
	}
}

// tellings are a word said of a failure that is tried again, of one that is not, or of none.
func tellings(word lifecycle.Code, before lifecycle.Status, reason lifecycle.Reason) []situation {
	accept := func(ws *v1alpha1.Workspace) {
		ws.Annotations = map[string]string{"kyklos.io/accept-data-loss": volumeUID}
	}
	if reason == "" {
		return []situation{{before: before, word: word, alter: accept}}
	}
	detail := message.Detail{Text: "{name} says no", StatusCode: 503}
	return []situation{
		{before: before, word: word, after: failed(reason, word), detail: detail, alter: accept},
		{before: before, word: word, after: stalled(reason, word), detail: detail, alter: accept},
	}
}

func judge(t *testing.T, s situation) {
	t.Helper()
	facts := s.facts()
	written := facts.Status(eight)
	if len(written.Conditions) != 6 {
		t.Errorf("%s: %d conditions", s.word, len(written.Conditions))
	}
	for _, c := range written.Conditions {
		if wrong := sound(c.Message); wrong != "" || !name.MatchString(c.Reason) || c.ObservedGeneration != 3 || c.LastTransitionTime.IsZero() {
			t.Errorf("%s as %s: %s: %+v", s.word, c.Type, wrong, c)
		}
	}
	if e := written.Error; e != nil {
		if wrong := sound(e.Message); wrong != "" || e.Code != string(s.word) || len(e.Context) > 16 {
			t.Errorf("%s as status.error: %s: %+v", s.word, wrong, e)
		}
	}
	for _, event := range facts.Events() {
		note, _ := strings.CutSuffix(event.Note, ".")
		if wrong := sound(note + "."); wrong != "" || !name.MatchString(event.Reason) {
			t.Errorf("%s as an event: %s: %+v", s.word, wrong, event)
		}
	}
	// Said again of what was written, it stays the same: or a Workspace at rest would be written for ever.
	facts.Workspace.Status, facts.Detail = written, message.Detail{}
	again := facts.Status(eight.Add(time.Hour))
	facts.Workspace.Status = again
	if third := facts.Status(eight.Add(2 * time.Hour)); !cmp.Equal(again, third) || !cmp.Equal(written.Error, third.Error) {
		t.Errorf("%s is said in other words the next time\n%s", s.word, cmp.Diff(again, third))
	}
	if events := facts.Events(); len(events) > 0 {
		t.Errorf("%s is told again: %+v", s.word, events)
	}
}

// TestMessages compares what is said in some situations with testdata, to be read aloud.
func TestMessages(t *testing.T) {
	var all strings.Builder
	for _, s := range situations() {
		facts := s.facts()
		written := facts.Status(eight)
		fmt.Fprintf(&all, "## %s\n", s.name)
		ready := meta.FindStatusCondition(written.Conditions, v1alpha1.ConditionReady)
		fmt.Fprintf(&all, "Ready %s %s: %s\n", ready.Status, ready.Reason, ready.Message)
		if e := written.Error; e != nil {
			context, err := json.Marshal(e.Context)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "error %s %s %s: %s\n  %s\n", e.Reason, e.Operation, e.Code, e.Message, context)
		}
		for _, event := range facts.Events() {
			fmt.Fprintf(&all, "event %s %s: %s\n", event.Type, event.Reason, event.Note)
		}
		fmt.Fprintln(&all)
	}
	path := filepath.Join("testdata", "messages.txt")
	if *update {
		if err := os.WriteFile(path, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), all.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestOthersMayTalk: what others say is cut to its end, which says most, and between characters.
func TestOthersMayTalk(t *testing.T) {
	long := strings.Repeat("é{name}", 5000) + " the end\xff"
	s := situation{
		before: status(lifecycle.Standby, lifecycle.Archiving), word: lifecycle.CodeJobFailed, after: failed(lifecycle.ActionFailed, lifecycle.CodeJobFailed),
		detail: message.Detail{Text: long},
	}
	e := s.facts().Error()
	stderr := e.Context["stderr"]
	if len(e.Message) > 2048 || !utf8.ValidString(e.Message) || !strings.Contains(e.Message, "(name) the end.") {
		t.Errorf("%d bytes: %s", len(e.Message), e.Message)
	}
	if len(stderr) > 520 || !utf8.ValidString(stderr) || !strings.HasPrefix(stderr, "...") || !strings.HasSuffix(stderr, "{name} the end") {
		t.Errorf("%d bytes: %s", len(stderr), stderr)
	}
}

// TestTheLastWordsStayWhenTheStateBecomesERROR, with the command for another attempt, however soon it becomes so.
func TestTheLastWordsStayWhenTheStateBecomesERROR(t *testing.T) {
	code := int32(11)
	s := situation{before: status(lifecycle.Standby, lifecycle.Archiving), word: lifecycle.CodeJobFailed, after: failed(lifecycle.ActionFailed, lifecycle.CodeJobFailed)}
	s.detail = message.Detail{Text: "it burns", Code: "TAR_CREATE_FAILED", ExitCode: &code}
	for _, later := range []time.Duration{0, time.Minute} {
		facts := s.facts()
		facts.Workspace.Status = facts.Status(eight)
		before := *facts.Workspace.Status.Error
		facts.Detail = message.Detail{}
		stalled(lifecycle.ActionFailed, lifecycle.CodeJobFailed)(&facts.Decision.Status)
		facts.Decision.Status.Error.OccurredAt = eight.Add(later)
		after := facts.Error()
		if diff := cmp.Diff(before.Context, after.Context); diff != "" || len(after.Context) != 5 || !strings.Contains(after.Message, "The error was: it burns. ") ||
			!strings.Contains(after.Message, "kyklos.io/retry") || !after.OccurredAt.Time.Equal(eight.Add(later)) ||
			facts.Events()[0].Note != after.Message {
			t.Errorf("%s later: %+v\n%s", later, after, diff)
		}
	}
}

// TestEveryCodeOfAMoverHasAWord: the two classes that matter most are told apart, and nothing that is away for
// a while is taken for lost (D23).
func TestEveryCodeOfAMoverHasAWord(t *testing.T) {
	known := constants(t, "apis/v1alpha1/workspace_conditions.go", "Reason")
	lost := map[lifecycle.Code]bool{lifecycle.CodeArchiveLost: true, lifecycle.CodeArchiveCorrupt: true, lifecycle.CodeVolumeLost: true}
	away := map[lifecycle.Code]bool{lifecycle.CodeStoreUnreachable: true, lifecycle.CodeBucketMissing: true}
	for _, code := range []mover.Code{
		"", mover.ArchiveNotFound, mover.MetaNotFound, mover.ChecksumMismatch, mover.StoreAccess, mover.BucketMissing, mover.ArchiveUnverified,
		mover.HomeChanged, mover.HomeUnreadable, mover.HomeMissing, mover.HomeExists, mover.VolumeMismatch, mover.VolumeBusy, mover.ArchiveTooLarge,
		mover.DiskFull, mover.TarCreateFailed, mover.TarExtractFailed, mover.Cancelled,
	} {
		word := message.CodeOf(code)
		if !known[string(word)] || lost[word] != (code.Reason() == mover.DataLost) || away[word] != (code.Reason() == mover.Unreachable) {
			t.Errorf("%s, which is %s, is told as %s", code, code.Reason(), word)
		}
		facts := situation{
			before: status(lifecycle.Standby, lifecycle.Archiving), word: word, after: failed(lifecycle.Reason(code.Reason()), word), detail: message.Detail{Code: string(code)},
		}.facts()
		if wrong := sound(facts.Error().Message); wrong != "" {
			t.Errorf("%s: %s: %s", code, wrong, facts.Error().Message)
		}
	}
}
