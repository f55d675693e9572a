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
	if _, err := os.Stat(f.file(metricsFile)); errors.Is(err, fs.ErrNotExist) {
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
	file, err := os.OpenFile(f.file(metricsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(rows.Bytes())
	return errors.Join(err, file.Sync(), file.Close())
}

// truncateMetrics drops the rows after an iteration, and one that a crash cut short, and returns the seconds of the last
// row that is left.
func (f *Folder) truncateMetrics(iteration int) (seconds float64, err error) {
	old, err := os.ReadFile(f.file(metricsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	kept := old[:0:0]
	for line := range bytes.Lines(old) {
		fields, err := csv.NewReader(bytes.NewReader(line)).Read()
		whole := err == nil && len(fields) == len(metricsHeader) && line[len(line)-1] == '\n'
		if !whole {
			break
		}
		if n, err := strconv.Atoi(fields[0]); err == nil {
			if n > iteration {
				break
			}
			seconds, _ = strconv.ParseFloat(fields[len(fields)-1], 64)
		}
		kept = append(kept, line...)
	}
	if len(kept) == len(old) {
		return seconds, nil
	}
	return seconds, atomicfile.WriteBytes(f.file(metricsFile), kept)
}
