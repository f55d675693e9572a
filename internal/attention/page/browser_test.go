package page

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// patience is how long a test waits for what a page does. On a busy machine all takes longer; only a test that fails waits
// it out.
const patience = 2 * time.Minute

// browser is the one Chromium that all tests of the package share; each test opens its own tab. It starts when the
// first test asks for it.
type browser struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

var shared browser

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.stop != nil {
		shared.stop()
	}
	os.Exit(code)
}

func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func (b *browser) start(path string) {
	dir, err := os.MkdirTemp("", "chargpt-page-")
	if err != nil {
		b.err = err
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(dir),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	b.err = chromedp.Do(ctx)
	b.ctx = ctx
	b.stop = func() {
		chromedp.Cancel(ctx)
		cancel()
		os.RemoveAll(dir)
	}
}

// tab is a page under test. It collects what a page and its worker must not do: write errors, and ask the network.
type tab struct {
	t        *testing.T
	ctx      context.Context
	visited  []string       // addresses that the test opened
	workers  chan target.ID // that the page started, and watchWorker has not seen yet
	mu       sync.Mutex
	errors   []string
	requests []string
}

// newTab opens an empty tab of a desktop's size. Without a browser the test is skipped, but fails under CI.
func newTab(t *testing.T) *tab {
	t.Helper()
	path := chromium()
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no Chromium found")
		}
		t.Skip("no Chromium found: install Debian's chromium to run the browser tests")
	}
	shared.once.Do(func() { shared.start(path) })
	if shared.err != nil {
		t.Fatalf("start %s: %v", path, shared.err)
	}
	ctx, cancel := chromedp.NewContext(shared.ctx)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, workers: make(chan target.ID, 8)}
	if err := chromedp.Listen(ctx, p.record); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.EmulateViewport(1440, 1000), unwatched)
	return p
}

// unwatched has the browser no longer report each element that changes, which no reader's browser does, and which takes time.
func unwatched(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
	if _, err := cdp.Call(ctx, t, css.Disable, cdp.Empty{}); err != nil {
		return chromedp.Void{}, err
	}
	_, err := cdp.Call(ctx, t, dom.Disable, cdp.Empty{})
	return chromedp.Void{}, err
}

func (p *tab) record(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		text := fmt.Sprint("console.", e.Type)
		for _, arg := range e.Args {
			text += fmt.Sprintf(" %s%s", arg.Value, arg.Description)
		}
		p.errors = append(p.errors, text)
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, fmt.Sprint(e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *log.EventEntryAdded: // the browser's own words: about the page's policy, or what it could not load
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			p.errors = append(p.errors, fmt.Sprint(e.Entry.Source, ": ", e.Entry.Text))
		}
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") && !strings.HasPrefix(e.Request.URL, "blob:") { // of the page itself
			p.requests = append(p.requests, e.Request.URL)
		}
	case *target.EventAttachedToTarget:
		if e.TargetInfo.Type == "worker" {
			p.workers <- e.TargetInfo.TargetID
		}
	}
}

// watchWorker waits for the next worker of the page, and has its events recorded as well as the page's: it is a target of
// its own, with a console and a network of its own.
func (p *tab) watchWorker() {
	p.t.Helper()
	select {
	case id := <-p.workers:
		ctx, stop := chromedp.NewContext(p.ctx, chromedp.WithTargetID(id), chromedp.WithListener(p.record), chromedp.WithDetachOnCancel())
		p.t.Cleanup(stop)
		if err := chromedp.Do(ctx); err != nil {
			p.t.Fatalf("the page's worker: %v", err)
		}
	case <-time.After(patience):
		p.t.Fatal("the page has no worker")
	}
}

// open writes a page to disk, opens it, and waits until it is drawn.
func (p *tab) open(write func(f *os.File) error) (size int64) {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), "page.html")
	f, err := os.Create(path)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := write(f); err != nil {
		p.t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		p.t.Fatal(err)
	}
	f.Close()
	p.visit((&url.URL{Scheme: "file", Path: path}).String())
	return info.Size()
}

func (p *tab) visit(address string) {
	p.t.Helper()
	p.visited = append(p.visited, address)
	p.do(chromedp.Navigate(address))
	p.until(`document.querySelectorAll(".token").length > 0 && document.querySelectorAll(".next").length > 0`)
}

// run is the result of an action.
func run[T any](p *tab, what string, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatalf("%s: %v; errors of the page: %q", what, err, p.reported())
	}
	return value
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	run(p, "in the browser", chromedp.Steps(steps...))
}

// until waits for an expression to become true. (Poll of chromedp needs what unwatched turned off.)
func (p *tab) until(expression string) {
	p.t.Helper()
	for begun := time.Now(); !read[bool](p, expression); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > patience {
			p.t.Fatalf("waited %v for %s; errors of the page: %q", patience, expression, p.reported())
		}
	}
}

// read evaluates an expression in the page.
func read[T any](p *tab, expression string) T {
	p.t.Helper()
	return run(p, expression, chromedp.Evaluate[T](expression))
}

// await evaluates the promise of an expression in the page.
func await[T any](p *tab, expression string) T {
	p.t.Helper()
	return run(p, expression, chromedp.Evaluate[T]("(async () => { "+expression+" })()", chromedp.EvalAwaitPromise))
}

// painted waits until every change of the page's state is on the screen.
func (p *tab) painted() {
	p.t.Helper()
	await[bool](p, `const frame = () => new Promise(requestAnimationFrame);
		do await frame(); while (document.body.ariaBusy === "true");
		return true;`)
}

// box is where an element is in the window.
type box struct{ X, Y, Width, Height float64 }

func (p *tab) box(selector string) box {
	p.t.Helper()
	return read[box](p, fmt.Sprintf(
		`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"});
		const b = e.getBoundingClientRect(); return {X: b.x, Y: b.y, Width: b.width, Height: b.height} })()`, selector))
}

// hover moves the mouse to the middle of an element.
func (p *tab) hover(selector string) {
	p.t.Helper()
	b := p.box(selector)
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, b.X+b.Width/2, b.Y+b.Height/2))
	p.painted()
}

func (p *tab) click(selector string) {
	p.t.Helper()
	b := p.box(selector)
	p.do(chromedp.MouseClickXY(b.X+b.Width/2, b.Y+b.Height/2))
	p.painted()
}

// tap touches the middle of an element with a finger.
func (p *tab) tap(selector string) {
	p.t.Helper()
	b := p.box(selector)
	p.do(chromedp.TapXY(b.X+b.Width/2, b.Y+b.Height/2))
}

func (p *tab) keys(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
	p.painted()
}

// slide sets an input as a person does: the page hears of it.
func (p *tab) slide(selector, value string) {
	p.t.Helper()
	read[bool](p, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.value = %q;
		e.dispatchEvent(new Event("input", {bubbles: true})); e.dispatchEvent(new Event("change", {bubbles: true})); return true })()`, selector, value))
	p.painted()
}

func (p *tab) dark(dark bool) {
	p.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}})
		return chromedp.Void{}, err
	})
	p.painted()
}

// screenshot saves the whole page into the directory that CHARGPT_SCREENSHOTS names, if it is set.
func (p *tab) screenshot(name string) {
	p.t.Helper()
	dir := os.Getenv("CHARGPT_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	}
	if err != nil {
		p.t.Error(err)
	}
}

// reported are the errors so far.
func (p *tab) reported() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errors)
}

// quiet fails if the page or its worker wrote to the console, threw, broke its policy, or asked for anything but what the
// test opened and addresses that begin as the allowed ones.
func (p *tab) quiet(allowed ...string) {
	p.t.Helper()
	if errors := p.reported(); len(errors) > 0 {
		p.t.Errorf("the page reported errors: %q", errors)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, request := range p.requests {
		ok := slices.Contains(p.visited, request)
		for _, prefix := range allowed {
			ok = ok || strings.HasPrefix(request, prefix)
		}
		if !ok {
			p.t.Errorf("the page asked for %s", request)
		}
	}
}
