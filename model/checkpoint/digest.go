package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"regexp"
	"strconv"
	"strings"
)

// digits is the length of a digest in hexadecimal.
const digits = 2 * sha256.Size

// noDigest stands in a header for the digest while it is computed.
var noDigest = strings.Repeat("0", digits)

// A digester is an io.Writer that computes the digest of a file with noDigest in its header.
type digester struct {
	hash    hash.Hash
	start   [lengthSize]byte // of the file
	written int64
}

func newDigester() *digester { return &digester{hash: sha256.New()} }

func (d *digester) Write(p []byte) (int, error) {
	if d.written < lengthSize {
		copy(d.start[d.written:], p)
	}
	d.written += int64(len(p))
	return d.hash.Write(p)
}

func (d *digester) headerLength() uint64 { return binary.LittleEndian.Uint64(d.start[:]) }

func (d *digester) sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

// An identity is what a file says about itself, found without parsing its header.
type identity struct {
	header  []byte
	version string
	digest  field
}

// A field is where a string of the metadata is in a file, its quotes left out.
type field struct{ lo, hi int }

// start is how every header begins: its keys are sorted, and this is the first.
const start = `{"__metadata__":{`

// identify finds the header, version and digest in the first bytes of a file of the given size: all of it, or at least
// lengthSize+maxHeader bytes.
func identify(b []byte, size int64) (identity, error) {
	if len(b) < lengthSize+len(start) {
		return identity{}, notCheckpoint("%d bytes are too few", size)
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxHeader || !bytes.HasPrefix(b[lengthSize:], []byte(start)) {
		return identity{}, notCheckpoint("it does not start as one; name a .safetensors file of a run")
	}
	if n > uint64(len(b)-lengthSize) {
		return identity{}, fmt.Errorf("damaged checkpoint: it has %d bytes, its header alone %d", size, n)
	}
	header := b[lengthSize : lengthSize+int(n)]
	version, ok := find(header, versionKey)
	if !ok {
		return identity{}, notCheckpoint("its header has no %s", versionKey)
	}
	digest, ok := find(header, sha256Key)
	if !ok {
		return identity{}, notCheckpoint("its header has no %s", sha256Key)
	}
	return identity{header, string(header[version.lo:version.hi]), field{lengthSize + digest.lo, lengthSize + digest.hi}}, nil
}

// offsets is where a header says that a tensor begins and ends.
var offsets = regexp.MustCompile(`"data_offsets":\s*\[\s*[0-9]+\s*,\s*([0-9]{1,18})\s*\]`)

// mostBytes is how large the file is at most by its header: to the end of the last tensor.
func (id identity) mostBytes() int64 {
	var end int64
	for _, m := range offsets.FindAllSubmatch(id.header, -1) {
		n, _ := strconv.ParseInt(string(m[1]), 10, 64) // 18 digits at most
		end = max(end, n)
	}
	return lengthSize + int64(len(id.header)) + end
}

// find returns where the value of a string field is. Quotes inside strings are escaped, so what it looks for is never part
// of one. It must be there exactly once.
func find(header []byte, key string) (field, bool) {
	before := []byte(`"` + key + `":"`)
	lo := bytes.Index(header, before)
	if lo < 0 || bytes.Count(header, before) > 1 {
		return field{}, false
	}
	lo += len(before)
	n := bytes.IndexByte(header[lo:], '"')
	return field{lo, lo + n}, n >= 0
}

// check compares the version, then the digest.
func (id identity) check(b []byte) error {
	stored := b[id.digest.lo:id.digest.hi]
	d := newDigester()
	d.Write(b[:id.digest.lo])
	d.Write([]byte(noDigest))
	d.Write(b[id.digest.hi:])
	intact := d.sum() == string(stored)
	switch {
	case id.version != FormatVersion && intact:
		return fmt.Errorf("checkpoint of format_version %.20q: this program reads %q", id.version, FormatVersion)
	case id.version != FormatVersion:
		return fmt.Errorf("checkpoint of format_version %.20q, or damaged (sha256 does not match): this program reads %q", id.version, FormatVersion)
	case !intact:
		return fmt.Errorf("damaged checkpoint: sha256 does not match (%.8q stored, %.8q computed); the file is cut short or was changed", stored, d.sum())
	}
	return nil
}
