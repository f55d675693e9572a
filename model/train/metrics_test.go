package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Rows that a checkpoint does not know, and what a crash cut short, go; what else is wrong with the file is named, and
// stays.
func TestTruncateMetrics(t *testing.T) {
	header := strings.Join(metricsHeader, ",") + "\n"
	const zero, five, ten = "0,4,4,3,2,0.1,1.5\n", "5,3,3,3,2,0.1,2.5\n", "10,2,2,3,2,0.1,3.5\n"
	for _, tt := range []struct {
		name, content, want string
		last                lastMetrics
		err                 string
	}{
		{"whole", header + zero + five, header + zero + five, lastMetrics{5, 2.5}, ""},
		{"later rows", header + zero + five + ten, header + zero + five, lastMetrics{5, 2.5}, ""},
		{"a later row, cut short", header + zero + "10,2,2", header + zero, lastMetrics{0, 1.5}, ""},
		{"a line feed less", header + zero + strings.TrimSpace(five), header + zero + five, lastMetrics{5, 2.5}, ""},
		{"no row", header, header, lastMetrics{-1, 0}, ""},
		{"half a header", header[:9], "", lastMetrics{-1, 0}, ""},
		{"empty", "", "", lastMetrics{-1, 0}, ""},
		{"another column", strings.TrimSpace(header) + ",note\n" + zero, "", lastMetrics{}, "does not begin with"},
		{"a damaged row", header + "0,4,4\n" + five, "", lastMetrics{}, "line 2: it has no 7 fields"},
		{"no iteration", header + "x,4,4,3,2,0.1,1\n", "", lastMetrics{}, "line 2: \"x\" is no iteration"},
		{"no time", header + zero + "5,3,3,3,2,0.1,NaN\n", "", lastMetrics{}, "line 3: \"NaN\" is no time"},
		{"an endless time", header + "5,3,3,3,2,0.1,+Inf\n", "", lastMetrics{}, "is no time"},
	} {
		f := &Folder{Path: t.TempDir()}
		path := filepath.Join(f.Path, MetricsFile)
		if err := os.WriteFile(path, []byte(tt.content), 0o666); err != nil {
			t.Fatal(err)
		}
		last, err := f.truncateMetrics(5)
		got, _ := os.ReadFile(path)
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), path) || string(got) != tt.content {
				t.Errorf("%s: %v, want an error with the file and %q, and the file as it was", tt.name, err, tt.err)
			}
		case err != nil || last != tt.last || string(got) != tt.want:
			t.Errorf("%s: %v, %v, %q, want %v, %q", tt.name, last, err, got, tt.last, tt.want)
		}
	}
	f := &Folder{Path: t.TempDir()}
	if last, err := f.truncateMetrics(5); err != nil || last.iteration != -1 {
		t.Errorf("without a file: %v, %v", last, err)
	}
	if err := os.WriteFile(filepath.Join(f.Path, MetricsFile), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := f.appendMetrics(Evaluation{Iteration: 5}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(f.Path, MetricsFile)); err != nil || !strings.HasPrefix(string(got), header+"5,") {
		t.Errorf("a row in an empty file: %q, %v, want the header above it", got, err)
	}
}
