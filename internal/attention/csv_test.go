package attention

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"testing"
)

func TestWriteCSV(t *testing.T) {
	for file, s := range map[string]Selection{"heads.csv": EveryHead(), "mean.csv": PerLayer()} {
		var b bytes.Buffer
		if err := WriteCSV(&b, testTrace("a,\"\n\\", 1, 2), s); err != nil {
			t.Fatal(err)
		}
		golden(t, file, b.Bytes())
	}
}

// TestWriteCSVRows parses the table and finds every weight and score of every head in it, to the last bit.
func TestWriteCSVRows(t *testing.T) {
	tr := testTrace(hostile, 2, 2)
	var b bytes.Buffer
	if err := WriteCSV(&b, tr, EveryHead()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	count, n := map[string]int{}, len(tr.Tokens)
	for _, r := range rows[1:] {
		count[r[1]]++
		if r[0] != "1" {
			t.Fatalf("format version %s in %q", r[0], r)
		}
		if r[1] != "attention" {
			continue
		}
		l, h, i, j := atoi(t, r[2]), atoi(t, r[3]), atoi(t, r[4]), atoi(t, r[5])
		head, at := tr.Heads[l][h], i*n+j
		if r[6] != Label(tr.Labels[i]) || r[7] != Label(tr.Labels[j]) || parse(t, r[8]) != head.Scores[at] ||
			parse(t, r[9]) != tr.scaled(head.Scores[at]) || parse(t, r[10]) != head.Weights[at] {
			t.Fatalf("row %q, want score %v, weight %v", r, head.Scores[at], head.Weights[at])
		}
	}
	if count["attention"] != 4*n*(n+1)/2 || count["summary"] != 4*6 || count["next"] != 2*len(tr.Vocab) || count["config"] != 11 {
		t.Errorf("rows: %v", count)
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	i, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func parse(t *testing.T, s string) float32 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 32)
	if err != nil {
		t.Fatal(err)
	}
	return float32(x)
}
