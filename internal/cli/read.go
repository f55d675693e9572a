package cli

import (
	"fmt"
	"io"
	"os"
)

// ReadAll reads to the end; more than most bytes, as an endless file has, are an error.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(content)) > most {
		return nil, TooLong(most)
	}
	return content, err
}

// ReadFile is [ReadAll] of a file. Its errors name the path.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := ReadAll(f, most)
	if _, ok := err.(TooLong); ok {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return content, err // names the path
}

// TooLong is the error of an input that has more bytes than it may.
type TooLong int64

// Error is the limit in words.
func (most TooLong) Error() string { return fmt.Sprintf("has more than %d bytes", int64(most)) }
