// Package browser opens what kyklos preview draws in a real headless Chromium, as a person would: from disk, without a network.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromium is one browser for all tests.
var chromium context.Context

func TestMain(m *testing.M) {
	if os.Getenv("CHROMIUM_BIN") == "" || os.Getenv("KYKLOS_BIN") == "" {
		fmt.Fprintln(os.Stderr, "run make test-browser: it says where kyklos and Chromium are")
		os.Exit(1)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(os.Getenv("CHROMIUM_BIN")),
		chromedp.NoSandbox, // it reads our own files only, and root has none
		chromedp.WindowSize(1000, 1400),
		chromedp.Env("TZ=America/St_Johns"), // what is shown does not follow the machine's zone
		chromedp.WSURLReadTimeout(time.Minute),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	var end context.CancelFunc
	chromium, end = chromedp.NewContext(allocator)
	code := m.Run()
	end()
	stop()
	os.Exit(code)
}

// preview has the command draw manifests into a file, and returns its path.
func preview(t *testing.T, format string, args ...string) string {
	t.Helper()
	command := exec.Command(os.Getenv("KYKLOS_BIN"), append([]string{"preview", "-o", format}, args...)...)
	command.Dir = "../../.."
	command.Stderr = os.Stderr
	drawn, err := command.Output()
	if err != nil {
		t.Fatalf("kyklos %s: %v", strings.Join(command.Args[1:], " "), err)
	}
	return write(t, "preview."+format, string(drawn))
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tab is a page of the browser, and what it complains of.
type tab struct {
	context.Context
	t *testing.T

	mutex      sync.Mutex
	complaints []string
}

// open opens a file in a tab of its own. At the end of the test, no message of the console, no exception and no request but for files
// from disk may have been seen.
func open(t *testing.T, path string, before ...chromedp.Action) *tab {
	t.Helper()
	within, closeTab := chromedp.NewContext(chromium)
	limited, cancel := context.WithTimeout(within, 2*time.Minute)
	opened := &tab{Context: limited, t: t}
	chromedp.ListenTarget(limited, opened.listen)
	t.Cleanup(func() {
		opened.mutex.Lock()
		defer opened.mutex.Unlock()
		for _, complaint := range opened.complaints {
			t.Error(complaint)
		}
		cancel()
		closeTab()
	})
	// The page has the focus, also while the tab of the test before closes.
	focused := emulation.SetFocusEmulationEnabled(true)
	opened.do(append([]chromedp.Action{network.Enable(), log.Enable(), runtime.Enable(), focused}, before...)...)
	opened.do(chromedp.Navigate("file://" + path))
	return opened
}

func (o *tab) listen(event any) {
	complaint := ""
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(event.Request.URL, "file:///") {
			complaint = "it asks for " + event.Request.URL
		}
	case *log.EventEntryAdded:
		complaint = "it logs " + event.Entry.Text
	case *runtime.EventConsoleAPICalled:
		complaint = "it writes to the console: " + string(event.Type)
	case *runtime.EventExceptionThrown:
		complaint = "it throws: " + event.ExceptionDetails.Error()
	case *page.EventJavascriptDialogOpening:
		complaint = "it opens a dialog: " + event.Message
	}
	if complaint != "" {
		o.mutex.Lock()
		o.complaints = append(o.complaints, complaint)
		o.mutex.Unlock()
	}
}

func (o *tab) do(actions ...chromedp.Action) {
	o.t.Helper()
	if err := chromedp.Run(o, actions...); err != nil {
		o.t.Fatal(err)
	}
}

// evaluate asks the page, and waits for what it promises.
func evaluate[T any](o *tab, expression string) T {
	o.t.Helper()
	var result T
	o.do(chromedp.Evaluate(expression, &result, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return result
}
