package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"chargpt/internal/attention"
	"chargpt/model"
)

func someTrace(t *testing.T) *attention.Trace {
	t.Helper()
	tr := newTracer(t, lively(t, config(func(c *model.Config) { c.Position = model.PositionRope })))
	tr.Step = 250
	got, err := tr.Forward(t.Context(), randomTokens(15, 11))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func encoded(t *testing.T, tr *attention.Trace) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, tr); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRecordRoundTrip(t *testing.T) {
	want := someTrace(t)
	b := encoded(t, want)
	got, err := Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("a record does not give back its trace")
	}
	if !bytes.Equal(b, encoded(t, got)) {
		t.Error("the same trace gave other bytes")
	}
}

// TestReadDamaged changes one field of a record at a time.
func TestReadDamaged(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(encoded(t, someTrace(t))))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]any){
		"version": func(r map[string]any) { r["format_version"] = 2 },
		"token":   func(r map[string]any) { r["tokens"].([]any)[0] = 99 },
		"tokens":  func(r map[string]any) { r["tokens"] = []int{} },
		"layers":  func(r map[string]any) { r["heads"] = r["heads"].([]any)[:1] },
		"weights": func(r map[string]any) { r["heads"].([]any)[0].([]any)[0].(map[string]any)["weights"] = "AAAA" },
		"size":    func(r map[string]any) { r["config"].(map[string]any)["head_size"] = 1 << 40 },
		"next":    func(r map[string]any) { r["next"] = "" },
		"type":    func(r map[string]any) { r["vocab"] = 1 },
	} {
		var r map[string]any
		if err := json.Unmarshal(content, &r); err != nil {
			t.Fatal(err)
		}
		change(r)
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		json.NewEncoder(z).Encode(r)
		z.Close()
		if _, err := Read(&b); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, b := range [][]byte{nil, []byte("no gzip"), encoded(t, someTrace(t))[:200]} {
		if _, err := Read(bytes.NewReader(b)); err == nil {
			t.Errorf("%d bytes were read", len(b))
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format_version":1,"tokens":[0],"vocab":["a"],"config":{"head_size":1,"n_layer":1,"n_head":1},"heads":[[{}]]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(content)
		z.Close()
		if tr, err := Read(&b); err == nil && tr.Validate() != nil {
			t.Error("a record that is no trace was read")
		}
	})
}

func TestRecording(t *testing.T) {
	run, tr := filepath.Join(t.TempDir(), "[a] run*"), someTrace(t)
	if r, err := Records(run); err != nil || len(r) != 0 {
		t.Errorf("a folder that is not there: %v, %v", r, err)
	}
	for _, step := range []int{1000, 0, 250, 123456789} {
		tr.Step = step
		if err := Record(run, tr); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(run, "probe", "x.tmp-1", "y"), 0o777); err != nil { // not of our making
		t.Fatal(err)
	}
	for _, name := range []string{"notes.txt", "-5.json.gz", "00000300.json.gz.tmp-1"} {
		if err := os.WriteFile(filepath.Join(run, "probe", name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got := steps(t, run); !reflect.DeepEqual(got, []int{0, 250, 1000, 123456789}) {
		t.Errorf("records of %v", got)
	}
	if err := DropAfter(run, 250); err != nil {
		t.Fatal(err)
	}
	if got := steps(t, run); !reflect.DeepEqual(got, []int{0, 250}) {
		t.Errorf("after 250 was dropped: records of %v", got)
	}
	if files, _ := os.ReadDir(filepath.Join(run, "probe")); len(files) != 5 {
		t.Errorf("files after dropping: %v", files)
	}
}

func steps(t *testing.T, run string) []int {
	t.Helper()
	records, err := Records(run)
	if err != nil {
		t.Fatal(err)
	}
	var steps []int
	for _, r := range records {
		tr, err := r.Open()
		if err != nil || tr.Step != r.Step {
			t.Errorf("%s: %v", r.File, err)
		}
		steps = append(steps, r.Step)
	}
	return steps
}
