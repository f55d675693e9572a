package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	lengthSize = 8       // bytes of the header's length
	maxHeader  = 4 << 20 // bytes of a header: a vocabulary of 65,536 characters takes 1 MiB, a block with moments 4 KiB
	maxVocab   = 1 << 20 // bytes of a vocabulary of 65,536 characters, as JSON
	minBlock   = 5 * 64  // bytes of a header that describe a block: its LayerNorm, W_Q, W_K, W_V and W_O
)

// Keys of the metadata.
const (
	versionKey = "format_version"
	configKey  = "config"
	vocabKey   = "vocab"
	trainKey   = "train"
	sha256Key  = "sha256"
)

// tensorInfo is what a header says of a tensor.
type tensorInfo struct {
	DType   string   `json:"dtype"`
	Shape   []uint64 `json:"shape"`
	Offsets []uint64 `json:"data_offsets"`
}

// decodeHeader reads what is no tensor, and checks that the tensors are those of a checkpoint. It walks through the header
// instead of parsing it at once, so that the safetensors library, whose maps take thirty times the memory of their JSON,
// never sees a header with more in it than its checkpoint can have. What the library checks (offsets) is left to it.
func (c *Checkpoint) decodeHeader(header []byte) error {
	dec := json.NewDecoder(bytes.NewReader(header))
	dec.DisallowUnknownFields()
	dec.Token() // the brace and the key that every header starts with
	dec.Token()
	if err := c.decodeMetadata(dec); err != nil {
		return err
	}
	// before anything loops over the layers
	if most := len(bytes.TrimRight(header[dec.InputOffset():], " ")) / minBlock; c.Config.NLayer > most {
		return fmt.Errorf("config: n_layer is %d, more blocks than the header describes", c.Config.NLayer)
	}
	shapes, _ := c.Config.ParameterShapes()
	seen := map[string]bool{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string) // it is one: a key of an object
		if err := decodeTensorInfo(dec, name, shapes); err != nil {
			return fmt.Errorf("tensor %.60q: %w", name, err)
		}
		if seen[name] {
			return fmt.Errorf("tensor %q is there twice", name)
		}
		seen[name] = true
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	if n := count(seen, bigramRowStart, bigramNext, bigramCount); n != 0 && n != 3 {
		return fmt.Errorf("%d of the 3 bigram tensors", n)
	}
	return nil
}

func count(set map[string]bool, names ...string) (n int) {
	for _, name := range names {
		if set[name] {
			n++
		}
	}
	return n
}

// decodeMetadata reads the value of "__metadata__".
func (c *Checkpoint) decodeMetadata(dec *json.Decoder) error {
	var m struct {
		Version string  `json:"format_version"`
		Config  string  `json:"config"`
		Vocab   string  `json:"vocab"`
		Train   *string `json:"train"`
		SHA256  string  `json:"sha256"`
	}
	if err := dec.Decode(&m); err != nil {
		return err
	}
	if err := decodeStrictly(m.Config, &c.Config); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if len(m.Vocab) > maxVocab {
		return errors.New("vocab: more characters than a vocabulary can have")
	}
	if err := decodeStrictly(m.Vocab, &c.Vocab); err != nil {
		return fmt.Errorf("vocab: %w", err)
	}
	if m.Train != nil {
		c.Train = json.RawMessage(*m.Train)
	}
	if err := c.validateMetadata(); err != nil {
		return err
	}
	c.Config = c.Config.WithDefaults()
	return nil
}

// decodeStrictly parses one JSON value without unknown keys.
func decodeStrictly(s string, v any) error {
	dec := json.NewDecoder(bytes.NewReader([]byte(s)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// decodeTensorInfo reads one tensor's entry and compares it with what its name demands.
func decodeTensorInfo(dec *json.Decoder, name string, shapes map[string][]int) error {
	var info tensorInfo
	if err := dec.Decode(&info); err != nil {
		return err
	}
	if len(info.Offsets) != 2 {
		return fmt.Errorf("%d data_offsets; it must have 2", len(info.Offsets))
	}
	dtype, parameter := "F32", name
	if _, p, ok := splitOptimizerName(name); ok {
		parameter = p
	}
	shape, ok := shapes[parameter]
	if isBigram(name) {
		dtype, ok = "I32", len(info.Shape) == 1
		shape = []int{0}
		if ok {
			shape[0] = int(info.Shape[0]) // any length; Bigram.Validate compares them
		}
	}
	if !ok {
		return errors.New("this config has no such tensor")
	}
	if info.DType != dtype {
		return fmt.Errorf("dtype %.20q; it must be %s", info.DType, dtype)
	}
	if !slices.EqualFunc(info.Shape, shape, func(a uint64, b int) bool { return a == uint64(b) }) {
		return fmt.Errorf("shape %v; it must be %v", info.Shape[:min(len(info.Shape), 4)], shape)
	}
	return nil
}
