package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const header = "iteration,train_loss,val_loss,unigram_loss,bigram_loss,learning_rate,seconds\n"

// run is a metrics file whose best validation loss is that of iteration 500.
const run = header + `0,4.203736,4.198272,3.347305,2.481889,9.90099e-06,1.808
250,2.425586,2.423199,3.347305,2.481889,0.0009864122,21.067
500,2.265652,2.269879,3.347305,2.481889,0.0009055698,40.052
750,2.119796,2.356181,3.347305,2.481889,0.0007648304,58.355
`

// long is a metrics file with many evaluations.
func long(rows int) string {
	var b strings.Builder
	b.WriteString(header)
	for i := range rows {
		fmt.Fprintf(&b, "%d,%.4f,%.4f,3.3,2.4819,%.6g,%d\n", 10*i, 1.6+2/(1+float64(i)/9), 1.8+2/(1+float64(i)/8), 1e-3/(1+float64(i)/99), i)
	}
	return b.String()
}

// losses draws a metrics file, and returns its path without an extension.
func losses(t *testing.T, metrics string) (out string, err error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "metrics.csv")
	if err := os.WriteFile(path, []byte(metrics), 0o666); err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(dir, "loss")
	err = Losses(path, out)
	if temporary, _ := filepath.Glob(filepath.Join(dir, "*.tmp-*")); len(temporary) > 0 {
		t.Errorf("temporary files are left: %v", temporary)
	}
	return out, err
}

func TestLosses(t *testing.T) {
	for _, tt := range []struct {
		name, metrics string
		colours       []uint32
		texts         []string
		absent        []string
	}{
		{"run", run, []uint32{blue, vermilion, green, grey}, []string{"training", "validation", "bigram 2.4819", "best validation 2.2699 at 500", "iteration", "learning rate"}, nil},
		{"one row", header + "0,4.2,4.1,3.3,2.4819,1e-5,1\n", []uint32{blue, vermilion, green, grey}, []string{"best validation 4.1000 at 0"}, nil},
		{"no validation", header + "0,4.2,,,,1e-5,1\n100,3.2,,,,1e-3,2\n", []uint32{blue, green}, []string{"training"}, []string{"validation", "bigram", "best"}},
		{"two columns", "train_loss,iteration\n4.2,0\n4.2,1000000\n", []uint32{blue}, []string{"1000000"}, []string{"validation"}},
		{"constant", header + "0,2,2,2,2,0,1\n10,2,2,2,2,0,1\n", []uint32{blue, vermilion}, []string{"best validation 2.0000 at 0"}, nil},
		{"cut row", run + "1000,2.1", []uint32{blue}, []string{"best validation 2.2699 at 500"}, nil},
		{"odd numbers", run + "1000,NaN,-Inf,,,x,9\n", []uint32{blue}, []string{"best validation 2.2699 at 500"}, nil},
		{"long", long(2000), []uint32{blue, vermilion, green, grey}, []string{"15000"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := losses(t, tt.metrics)
			if err != nil {
				t.Fatal(err)
			}
			content, texts := parseSVG(t, out+".svg")
			img := decodePNG(t, out+".png")
			for _, c := range tt.colours {
				if !strings.Contains(content, fmt.Sprintf("#%06X", c)) {
					t.Errorf("the SVG has no stroke of #%06X", c)
				}
				if n := count(img, img.Bounds(), rgb(c)); n < 20 {
					t.Errorf("the PNG has %d pixels of #%06X", n, c)
				}
			}
			for _, want := range tt.texts {
				if !strings.Contains(texts, want+"\n") {
					t.Errorf("no text %q among\n%s", want, texts)
				}
			}
			for _, text := range tt.absent {
				if strings.Contains(texts, text) {
					t.Errorf("there is a text %q", text)
				}
			}
		})
	}
}

// TestReplace: a picture is drawn again over the old one, and the same table gives the same bytes.
func TestReplace(t *testing.T) {
	out, err := losses(t, run)
	if err != nil {
		t.Fatal(err)
	}
	for _, extension := range []string{".svg", ".png"} {
		before, _ := os.ReadFile(out + extension)
		if err := Losses(filepath.Join(filepath.Dir(out), "metrics.csv"), out); err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(out + extension); err != nil || string(after) != string(before) {
			t.Errorf("drawn again, %s has other bytes (%v)", extension, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for content, want := range map[string]string{
		"": "is no metrics file", "a,b\n1,2\n": "is no metrics file", header: "no evaluation", header + "0,,,,,,\n": "no evaluation",
		run + "\"0,1\n": "metrics.csv",
	} {
		out, err := losses(t, content)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one line with %q", content, err, want)
		}
		if _, err := os.Stat(out + ".svg"); err == nil {
			t.Errorf("%q: a picture was drawn", content)
		}
	}
	if err := Losses(filepath.Join(t.TempDir(), "missing"), "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	path := filepath.Join(t.TempDir(), "metrics.csv")
	os.WriteFile(path, []byte(run), 0o666)
	if err := Losses(path, filepath.Join(t.TempDir(), "missing", "loss")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
}

// parseSVG returns the file, and its texts, a line each.
func parseSVG(t *testing.T, path string) (content, texts string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	inText := false
	d := xml.NewDecoder(strings.NewReader(string(b)))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return string(b), texts
		}
		if err != nil {
			t.Fatalf("%s is no XML: %v", path, err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inText = x.Name.Local == "text"
		case xml.CharData:
			if inText {
				texts += string(x) + "\n"
			}
		case xml.EndElement:
			inText = false
		}
	}
}

func decodePNG(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size != image.Pt(1152, 792) {
		t.Errorf("the PNG has %v pixels", size)
	}
	return img
}

// count is how many pixels within a rectangle have a colour.
func count(img image.Image, within image.Rectangle, want color.RGBA) (n int) {
	b := within.Intersect(img.Bounds())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if color.RGBAModel.Convert(img.At(x, y)) == want {
				n++
			}
		}
	}
	return n
}

func BenchmarkLosses(b *testing.B) {
	for _, rows := range []int{9, 2000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "metrics.csv")
			if err := os.WriteFile(path, []byte(long(rows)), 0o666); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := Losses(path, path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
