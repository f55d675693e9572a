package checkpoint

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"unsafe"

	"github.com/nlpodyssey/safetensors"
)

// Encode returns c as the bytes of a file. The same content gives the same bytes.
func (c *Checkpoint) Encode() ([]byte, error) {
	f, err := c.prepare()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(f.size))
	err = f.writeTo(&b)
	return b.Bytes(), err
}

// A file is a checkpoint ready to be written: everything that can be wrong with it was checked.
type file struct {
	tensors  map[string]tensor
	metadata map[string]string
	size     int64
}

// prepare checks c and computes its digest. The file's tensors are windows on the memory of c.
func (c *Checkpoint) prepare() (*file, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("encode checkpoint: %w", err)
	}
	metadata, err := c.metadata()
	if err != nil {
		return nil, fmt.Errorf("encode checkpoint: %w", err)
	}
	f := &file{tensors: c.tensors(), metadata: metadata}
	d := newDigester()
	if err := f.writeTo(d); err != nil {
		return nil, fmt.Errorf("encode checkpoint: %w", err)
	}
	if n := d.headerLength(); n > maxHeader {
		return nil, fmt.Errorf("encode checkpoint: the header has %d bytes; at most %d are possible", n, maxHeader)
	}
	f.metadata[sha256Key] = d.sum()
	f.size = d.written
	return f, nil
}

func (f *file) writeTo(w io.Writer) error {
	b := bufio.NewWriter(w) // for the many small tensors
	if err := safetensors.SerializeToWriter(f.tensors, f.metadata, b); err != nil {
		return err
	}
	return b.Flush()
}

// metadata is what is no tensor, with a digest of zeros.
func (c *Checkpoint) metadata() (map[string]string, error) {
	config, err := json.Marshal(c.Config.WithDefaults())
	if err != nil {
		return nil, err
	}
	vocab, err := json.Marshal(c.Vocab)
	if err != nil {
		return nil, err
	}
	m := map[string]string{
		versionKey: FormatVersion,
		configKey:  string(config),
		vocabKey:   string(vocab),
		sha256Key:  noDigest,
	}
	if c.Train != nil {
		m[trainKey] = string(c.Train)
	}
	return m, nil
}

func (c *Checkpoint) tensors() map[string]tensor {
	shapes, _ := c.Config.ParameterShapes()
	tensors := make(map[string]tensor, len(shapes))
	for name, values := range c.Weights {
		tensors[name] = tensor{shape: shapes[name], floats: values}
	}
	for kind, moments := range c.Optimizer {
		for name, values := range moments {
			tensors[optimizerName(kind, name)] = tensor{shape: shapes[name], floats: values}
		}
	}
	if b := c.Bigram; b != nil {
		for name, values := range map[string][]int32{bigramRowStart: b.RowStart, bigramNext: b.Next, bigramCount: b.Count} {
			tensors[name] = tensor{shape: []int{len(values)}, ints: values, isInt: true}
		}
	}
	return tensors
}

// A tensor is a [safetensors.View] of numbers in memory.
type tensor struct {
	shape  []int
	floats []float32
	ints   []int32 // instead of floats, if isInt
	isInt  bool
}

func (t tensor) DType() safetensors.DType {
	if t.isInt {
		return safetensors.I32
	}
	return safetensors.F32
}

func (t tensor) Shape() []uint64 {
	shape := make([]uint64, len(t.shape))
	for i, d := range t.shape {
		shape[i] = uint64(d)
	}
	return shape
}

func (t tensor) Data() []byte {
	if t.isInt {
		return littleEndian(t.ints)
	}
	return littleEndian(t.floats)
}

func (t tensor) DataLen() uint64 { return 4 * uint64(len(t.floats)+len(t.ints)) }

// littleEndian returns numbers as little-endian bytes: in place where memory is little-endian, else copied.
func littleEndian[T float32 | int32](s []T) []byte {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), 4*len(s))
	}
	return littleEndianCopy(s)
}

// littleEndianCopy is littleEndian for any memory.
func littleEndianCopy[T float32 | int32](s []T) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, s)
	if err != nil {
		panic(err) // it takes any slice of numbers
	}
	return b
}
