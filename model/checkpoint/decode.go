package checkpoint

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/nlpodyssey/safetensors"

	"chargpt/data"
)

// Decode reads a checkpoint from the bytes of a file, and keeps no reference to them. They may be anything; see the
// package documentation. Its errors are one line.
func Decode(b []byte) (c *Checkpoint, err error) {
	defer func() {
		if p := recover(); p != nil { // a library's
			c, err = nil, notCheckpoint("%v", p)
		}
	}()
	id, err := identify(b, int64(len(b)))
	if err != nil {
		return nil, err
	}
	if err := id.check(b); err != nil {
		return nil, err
	}
	c = &Checkpoint{}
	if err := c.decodeHeader(id.header); err != nil {
		return nil, notCheckpoint("%v", err)
	}
	if err := c.decodeTensors(b); err != nil {
		return nil, notCheckpoint("%v", err)
	}
	return c, nil
}

// decodeTensors copies the tensors of a file whose header was checked.
func (c *Checkpoint) decodeTensors(b []byte) error {
	f, err := safetensors.Deserialize(b)
	if err != nil {
		return err
	}
	c.Weights = map[string][]float32{}
	for _, t := range f.Tensors() {
		bytes := t.TensorView.Data()
		switch kind, parameter, isOptimizer := splitOptimizerName(t.Name); {
		case isOptimizer:
			c.addMoments(kind, parameter, numbers[float32](bytes))
		case isBigram(t.Name):
			c.addBigram(t.Name, numbers[int32](bytes))
		default:
			c.Weights[t.Name] = numbers[float32](bytes)
		}
	}
	return c.validate()
}

func (c *Checkpoint) addMoments(kind, parameter string, values []float32) {
	if c.Optimizer == nil {
		c.Optimizer = map[string]map[string][]float32{}
	}
	if c.Optimizer[kind] == nil {
		c.Optimizer[kind] = map[string][]float32{}
	}
	c.Optimizer[kind][parameter] = values
}

func isBigram(name string) bool {
	return name == bigramRowStart || name == bigramNext || name == bigramCount
}

func (c *Checkpoint) addBigram(name string, values []int32) {
	if c.Bigram == nil {
		c.Bigram = &data.Bigram{}
	}
	switch name {
	case bigramRowStart:
		c.Bigram.RowStart = values
	case bigramNext:
		c.Bigram.Next = values
	case bigramCount:
		c.Bigram.Count = values
	}
}

// numbers copies little-endian numbers.
func numbers[T float32 | int32](b []byte) []T {
	s := make([]T, len(b)/4)
	if _, err := binary.Decode(b, binary.LittleEndian, s); err != nil {
		panic(err) // the sizes agree
	}
	return s
}

// notCheckpoint is an error about bytes that are no checkpoint, on one short line whatever the bytes are.
func notCheckpoint(format string, args ...any) error {
	const longest = 300
	s := strings.Join(strings.Fields(fmt.Errorf(format, args...).Error()), " ")
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "..."
	}
	return fmt.Errorf("not a checkpoint: %s", s)
}
