package train

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"chargpt/internal/atomicfile"
)

// metricsHeader names the columns of metrics.csv. Losses are nats a character; a column is empty where the text has no
// validation part. seconds is training time, over all sessions of a run.
var metricsHeader = []string{"iteration", "train_loss", "val_loss", "unigram_loss", "bigram_loss", "learning_rate", "seconds"}

// appendMetrics adds a row, and the header to a new file.
func (f *Folder) appendMetrics(e Evaluation) error {
	var rows bytes.Buffer
	if info, err := os.Stat(f.file(MetricsFile)); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		fmt.Fprintln(&rows, strings.Join(metricsHeader, ","))
	}
	number := func(x float64) string {
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', 7, 64)
	}
	fmt.Fprintln(&rows, strings.Join([]string{strconv.Itoa(e.Iteration), number(e.TrainLoss), number(e.ValLoss),
		number(e.UnigramLoss), number(e.BigramLoss), number(e.LearningRate), strconv.FormatFloat(e.Seconds, 'f', 3, 64)}, ","))
	file, err := os.OpenFile(f.file(MetricsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(rows.Bytes())
	return errors.Join(err, file.Sync(), file.Close())
}

// lastMetrics is what the last row of a run's metrics says.
type lastMetrics struct {
	iteration int // −1 where there is no row
	seconds   float64
}

// truncateMetrics drops the rows after an iteration, and one that a crash cut short, and returns the last row that is
// left. A row is written before its checkpoint: only one after the checkpoint can be cut short.
func (f *Folder) truncateMetrics(iteration int) (lastMetrics, error) {
	last := lastMetrics{iteration: -1}
	old, err := os.ReadFile(f.file(MetricsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	if err != nil {
		return last, err
	}
	header := strings.Join(metricsHeader, ",") + "\n"
	rows, ok := bytes.CutPrefix(old, []byte(header))
	if !ok && !strings.HasPrefix(header, string(old)) { // a crash may have cut the header short
		return last, fmt.Errorf("%s does not begin with %q, as a run's does: repair it, or move it away to go on without its rows", f.file(MetricsFile), strings.TrimSpace(header))
	}
	kept := old[:len(old)-len(rows)]
	if !ok {
		kept = nil
	}
	number := 1
	for line := range bytes.Lines(rows) {
		number++
		row, err := parseMetrics(line)
		if whole := line[len(line)-1] == '\n'; err != nil && !whole || err == nil && row.iteration > iteration {
			break
		}
		if err != nil {
			return last, fmt.Errorf("%s, line %d: %w: repair it, or move the file away to go on without its rows", f.file(MetricsFile), number, err)
		}
		last = row
		kept = append(kept, bytes.TrimSuffix(line, []byte("\n"))...)
		kept = append(kept, '\n')
	}
	if bytes.Equal(kept, old) {
		return last, nil
	}
	return last, atomicfile.WriteBytes(f.file(MetricsFile), kept)
}

// parseMetrics reads iteration and seconds of a row.
func parseMetrics(line []byte) (row lastMetrics, err error) {
	fields, err := csv.NewReader(bytes.NewReader(line)).Read()
	if err != nil || len(fields) != len(metricsHeader) {
		return row, fmt.Errorf("it has no %d fields", len(metricsHeader))
	}
	if row.iteration, err = strconv.Atoi(fields[0]); err != nil || row.iteration < 0 {
		return row, fmt.Errorf("%q is no iteration", fields[0])
	}
	if row.seconds, err = strconv.ParseFloat(fields[len(fields)-1], 64); err != nil || !(row.seconds >= 0 && row.seconds <= math.MaxInt32) {
		return row, fmt.Errorf("%q is no time in seconds", fields[len(fields)-1])
	}
	return row, nil
}
