package page

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

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

// tab is a page under test. It collects what a page must not do: write errors, and ask the network.
type tab struct {
	t        *testing.T
	ctx      context.Context
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
	p := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, p.record); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.EmulateViewport(1440, 1000))
	return p
}

func (p *tab) record(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		p.errors = append(p.errors, fmt.Sprint(e.Type, e.Args))
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, fmt.Sprint(e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			p.requests = append(p.requests, e.Request.URL)
		}
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
	p.do(chromedp.Navigate(address))
	p.until(`document.querySelectorAll(".token").length > 0 && document.querySelectorAll(".next").length > 0`)
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 20*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%v; errors of the page: %q", err, p.errors)
	}
}

// until waits for an expression to become true.
func (p *tab) until(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expression)); err != nil {
		p.t.Fatalf("waiting for %s: %v; errors of the page: %q", expression, err, p.errors)
	}
}

// read evaluates an expression in the page.
func read[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// painted waits until every change of the page's state is on the screen.
func (p *tab) painted() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`(async () => {
		const frame = () => new Promise(requestAnimationFrame);
		do await frame(); while (document.body.ariaBusy === "true");
		return true;
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(err)
	}
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

// quiet fails if the page wrote to the console, threw, or asked for anything but the addresses that it may.
func (p *tab) quiet(allowed ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.errors) > 0 {
		p.t.Errorf("the page reported errors: %q", p.errors)
	}
	for _, request := range p.requests {
		ok := false
		for _, prefix := range allowed {
			ok = ok || strings.HasPrefix(request, prefix)
		}
		if !ok {
			p.t.Errorf("the page asked for %s", request)
		}
	}
}
