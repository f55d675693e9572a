package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chargpt/model"
)

// TestPlaygroundIsConfined has a worker of the page ask the network, which must fail, and write to the console. It also
// shows that quiet would have reported both.
func TestPlaygroundIsConfined(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}))
	defer srv.Close()
	p := newTab(t)
	p.playground(fresh(t, model.Config{BlockSize: 8, NLayer: 1, NHead: 1, NEmbd: 8}))
	p.quiet()
	const program = `onmessage = ({data}) => { console.log("canary"); fetch(data).then(() => postMessage("sent"), () => postMessage("refused")); }`
	read[bool](p, fmt.Sprintf(`((program) => {
		window.canary = new Worker(URL.createObjectURL(new Blob([program], {type: "text/javascript"})));
		return true;
	})(%q)`, program))
	p.watchWorker()
	for from, ask := range map[string]string{
		"page":   `return fetch(address).then(() => "sent", () => "refused")`,
		"worker": `return new Promise((resolve) => { canary.onmessage = ({data}) => resolve(data); canary.postMessage(address); })`,
	} {
		if got := await[string](p, fmt.Sprintf("const address = %q; %s", srv.URL+"/of-"+from, ask)); got != "refused" || hits.Load() > 0 {
			t.Errorf("a request of the %s was %s, and %d came, want it refused", from, got, hits.Load())
		}
	}
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		errors := strings.Join(p.reported(), "\n")
		if strings.Contains(errors, "/of-page") && strings.Contains(errors, "/of-worker") && strings.Contains(errors, "canary") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("of two requests and a line on the console the tab noticed: %s", errors)
		}
	}
}
