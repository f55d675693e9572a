package checkpoint

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// sign puts the right digest into a crafted file, if it has a place for it: Decode then looks further.
func sign(b []byte) []byte {
	id, err := identify(b, int64(len(b)))
	if err != nil || id.digest.hi-id.digest.lo != digits {
		return b
	}
	copy(b[id.digest.lo:], noDigest)
	d := newDigester()
	d.Write(b)
	copy(b[id.digest.lo:], d.sum())
	return b
}

// join makes a file of a header and the tensors' bytes.
func join(header, tensors string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), tensors...)
}

// split returns the header and the tensors' bytes of a file.
func split(b []byte) (header, tensors string) {
	n := binary.LittleEndian.Uint64(b)
	return strings.TrimRight(string(b[lengthSize:lengthSize+n]), " "), string(b[lengthSize+n:])
}

// headerCases replace something in the header of tiny.
func headerCases() []struct{ name, old, new, err string } {
	const wte = `"wte":{"dtype":"F32","shape":[5,4],"data_offsets":[3616,3696]}`
	return []struct{ name, old, new, err string }{
		{"version", `version":"1"`, `version":"9"`, `checkpoint of format_version "9": this program reads "1"`},
		{"long version", `version":"1"`, `version":"` + strings.Repeat("9", 5000) + `"`, `checkpoint of format_version "99999999999999999999"`},
		{"no version", `format_version`, `format_versiom`, "no format_version"},
		{"no digest", `sha256`, `sha257`, "no sha256"},
		{"two digests", `"format_version"`, `"sha256":"","format_version"`, "no sha256"},
		{"digest unclosed", `"sha256":"`, `"sha256":"\u0`, "does not match"},
		{"metadata key", `"format_version"`, `"what":"","format_version"`, "unknown field"},
		{"metadata number", `"format_version"`, `"train":1,"format_version"`, "cannot unmarshal number"},
		{"no config", `"config":`, `"train":`, "config: EOF"},
		{"config not JSON", `"config":"{`, `"config":"`, "config: "},
		{"config twice", `"config":"{`, `"config":"{}{`, "config: something follows"},
		{"config key", `\"n_layer\":1`, `\"n_layers\":1`, "config: json: unknown field"},
		{"config nothing", `"config":"{`, `"config":"{}","train":"{`, "config: vocab_size is 0"},
		{"config long", `\"learned\"`, `\"` + strings.Repeat("x", 9000) + `\"`, "config: position is"},
		{"config heads", `\"n_head\":2`, `\"n_head\":0`, "config: n_head is 0"},
		{"config big", `\"n_embd\":4`, `\"n_embd\":4611686018427387904`, "config: n_embd is 4611686018427387904"},
		{"config huge", `\"n_embd\":4`, `\"n_embd\":1e99`, "config: json: cannot unmarshal"},
		{"largest heads", `\"n_head\":2`, `\"n_head\":1048576`, "it must be ["},
		{"absurd layers", `\"n_layer\":1`, `\"n_layer\":1048576`, "config: n_layer is 1048576"},
		{"most layers", `\"n_layer\":1`, `\"n_layer\":1000`, "n_layer is 1000, more blocks than"},
		{"more layers", `\"n_layer\":1`, `\"n_layer\":2`, "is missing"},
		{"fewer layers", `\"n_layer\":1`, `\"n_layer\":0`, "no such tensor"},
		{"largest vocabulary", `\"vocab_size\":5`, `\"vocab_size\":1048576`, "5 characters in vocab, but vocab_size is 1048576"},
		{"vocabulary shorter", `[\"\\n\",`, `[`, "4 characters in vocab"},
		{"vocabulary twice", `\"é\"`, `\"\\u003c\"`, "vocab: vocabulary entries"},
		{"vocabulary of strings", `\"é\"`, `\"éé\"`, "vocab: vocabulary entry 3"},
		{"train not JSON", `"train":"{`, `"train":"`, "train is not JSON"},
		{"dtype", `"h.0.ln_1.bias":{"dtype":"F32"`, `"h.0.ln_1.bias":{"dtype":"I32"`, `dtype "I32"; it must be F32`},
		{"dtype unknown", `"bigram.next":{"dtype":"I32"`, `"bigram.next":{"dtype":"` + strings.Repeat("J", 9999) + `"`, "it must be I32"},
		{"shape", wte, strings.Replace(wte, "[5,4]", "[4,5]", 1), `tensor "wte": shape [4 5]; it must be [5 4]`},
		{"shape overflow", wte, strings.Replace(wte, "[5,4]", "[4611686018427387904,4]", 1), "shape [4611686018427387904 4]"},
		{"shape negative", wte, strings.Replace(wte, "[5,4]", "[-5,-4]", 1), "cannot unmarshal number -5"},
		{"shape fraction", wte, strings.Replace(wte, "[5,4]", "[5.5,4]", 1), "cannot unmarshal number 5.5"},
		{"shape long", wte, strings.Replace(wte, "[5,4]", "[5,4"+strings.Repeat(",1", 100_000)+"]", 1), "shape [5 4 1 1]; it must be [5 4]"},
		{"shape null", wte, strings.Replace(wte, "[5,4]", "null", 1), "shape []"},
		{"shape nested", wte, strings.Replace(wte, "[5,4]", strings.Repeat("[", 100_000), 1), "exceeded max depth"},
		{"bigram length overflow", `[8],"data_offsets":[3696`, `[4611686018427387904],"data_offsets":[3696`, "overflow"},
		{"bigram length negative", `[8],"data_offsets":[3696`, `[18446744073709551615],"data_offsets":[3696`, "overflow"},
		{"bigram shape", `[8],"data_offsets":[3696`, `[2,4],"data_offsets":[3696`, `"bigram.count": this config has no such`},
		{"bigram rows", `"shape":[6],"data_offsets":[3760,3784]`, `"shape":[5],"data_offsets":[3760,3780]`, "incomplete buffer"},
		{"offsets overlap", "[3616,3696]", "[3612,3692]", "offset"},
		{"offsets gap", "[3616,3696]", "[3620,3700]", "offset"},
		{"offsets reversed", "[3616,3696]", "[3696,3616]", "offset"},
		{"offsets negative", "[3616,3696]", "[-80,0]", "cannot unmarshal number -80"},
		{"offsets overflow", "[3616,3696]", "[18446744073709551600,18446744073709551615]", "offset"},
		{"offsets three", "[3616,3696]", "[3616,3696,3696]", "3 data_offsets"},
		{"offsets many", "[3616,3696]", "[3616,3696" + strings.Repeat(",1", 100_000) + "]", "100002 data_offsets"},
		{"key twice", wte, wte + "," + wte, `tensor "wte" is there twice`},
		{"key missing", wte, `"wte":{"dtype":"F32","shape":[5,4]}`, "0 data_offsets"},
		{"key more", wte, strings.Replace(wte, "{", `{"x":1,`, 1), "unknown field"},
		{"key case", wte, strings.Replace(wte, "{", `{"DType":"F32",`, 1), "expected 3 keys"},
		{"tensor null", wte, `"wte":null`, "0 data_offsets"},
		{"tensor number", wte, `"wte":1`, "cannot unmarshal number"},
		{"tensor unknown", `"wte"`, `"wtf"`, `tensor "wtf": this config has no such tensor`},
		{"tensor name long", `"wte"`, `"` + strings.Repeat("x", 100_000) + `"`, "this config has no such tensor"},
		{"tensor nested", wte, strings.Repeat(`"wte":{`, 100_000), "exceeded max depth"},
		{"moment unknown", `"optim.m.wte"`, `"optim.m.wtf"`, "no such tensor"},
		{"moment kind", `"optim.m.wte"`, `"optim..wte"`, "no such tensor"},
		{"cut", wte, `"wte":{"dtype"`, "invalid character"},
		{"not closed", wte + "}", wte, "EOF"},
		{"something after", wte + "}", wte + "}1", "invalid character"},
		{"control character", wte, "\"w\nte\":{}", "invalid character"},
	}
}

func TestDecodeHostileHeader(t *testing.T) {
	header, tensors := split(mustEncode(t, tiny(t)))
	if _, err := Decode(sign(join(header, tensors))); err != nil {
		t.Fatalf("the cases start from a bad file: %v", err)
	}
	for _, test := range headerCases() {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(header, test.old) {
				t.Fatalf("no %s in the header", test.old)
			}
			b := sign(join(strings.Replace(header, test.old, test.new, 1), tensors))
			checkModest(t, b, func() {
				_, err := Decode(b)
				checkError(t, err, test.err)
			})
		})
	}
}

// checkModest fails if f allocates far more than the file has bytes. All these files are header: one with tensors takes
// little more than they do.
func checkModest(t *testing.T, file []byte, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if n, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+40*len(file)); n > most {
		t.Errorf("allocated %d bytes for a file of %d", n, len(file))
	}
}

// TestDecodeLargeHeaders: the headers that a parser would need most memory for.
func TestDecodeLargeHeaders(t *testing.T) {
	header, tensors := split(mustEncode(t, tiny(t)))
	const room = 1 << 19 // their memory grows with it
	fill := func(entry string) string {
		var b strings.Builder
		for i := 0; b.Len() < room; i++ {
			fmt.Fprintf(&b, entry, i)
		}
		return b.String()
	}
	wte := strings.Index(header, `"wte"`)
	layers := func(s string) string {
		return strings.Replace(s, `\"n_layer\":1`, fmt.Sprintf(`\"n_layer\":%d`, room/minBlock), 1)
	}
	for _, test := range []struct{ name, header string }{
		{"empty tensors", header[:wte] + fill(`"%d":{},`) + header[wte:]},
		{"moments", header[:wte] + fill(`"optim.k%d.ln_f.bias":{"dtype":"F32","shape":[4],"data_offsets":[0,0]},`) + header[wte:]},
		{"layers of padding", layers(header) + strings.Repeat(" ", room)},
		{"layers of nothing", layers(header[:wte]) + fill(`"%d":{},`) + header[wte:]},
		{"vocabulary", strings.Replace(header, `[\"\\n\",`, `[`+strings.Repeat(`\"\",`, room/5), 1)},
		{"metadata", strings.Replace(header, `"config"`, fill(`"%d":"",`)+`"config"`, 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := sign(join(test.header, tensors))
			checkModest(t, b, func() {
				_, err := Decode(b)
				checkError(t, err, "not a checkpoint: ")
			})
		})
	}
}

func TestDecodeNotCheckpoint(t *testing.T) {
	header, tensors := split(mustEncode(t, tiny(t)))
	length := func(n uint64) string {
		return string(binary.LittleEndian.AppendUint64(nil, n)) + header + tensors
	}
	for _, test := range []struct{ name, in, err string }{
		{"empty", "", "not a checkpoint: 0 bytes are too few"},
		{"short", "hello", "not a checkpoint: 5 bytes are too few"},
		{"text", strings.Repeat("To be, or not to be.\n", 100), "not a checkpoint: it does not start as one"},
		{"zeros", strings.Repeat("\x00", 1000), "not a checkpoint"},
		{"length 0", length(0), "no format_version"},
		{"length too small", length(100), "no format_version"},
		{"length of the file", length(uint64(len(header)+len(tensors)) + 1), "its header alone"},
		{"length over the limit", length(maxHeader + 1), "does not start as one"},
		{"length 2^63", length(1 << 63), "does not start as one"},
		{"length 2^64-1", length(1<<64 - 1), "does not start as one"},
		{"other safetensors", string(join(`{"__metadata__":{"format":"pt"},"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, "1234")), "no format_version"},
		{"no metadata", string(join(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, "1234")), "does not start as one"},
		{"more bytes", string(sign(join(header, tensors+"more"))), "incomplete buffer"},
		{"bigram rows", string(sign(join(header, tensors[:3760]+"\x01"+tensors[3761:]))), "bigram rows from 1"},
		{"version of a damaged file", strings.Replace(string(join(header, tensors)), `version":"1"`, `version":"3"`, 1), "format_version \"3\", or damaged"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Decode([]byte(test.in))
			checkError(t, err, test.err)
		})
	}
}

func TestDecodeTruncated(t *testing.T) {
	b := mustEncode(t, tiny(t))
	for n := range b {
		_, err := Decode(b[:n:n])
		checkError(t, err, "checkpoint")
		if n > 4000 {
			checkError(t, err, "damaged checkpoint: ")
		}
	}
}

func TestDecodeFlipped(t *testing.T) {
	b := mustEncode(t, tiny(t))
	for i := range b {
		for bit := range 8 {
			if i > 1200 && bit != i%8 { // all bits up to the end of the metadata, then one a byte
				continue
			}
			b[i] ^= 1 << bit
			_, err := Decode(b)
			if err == nil {
				t.Fatalf("bit %d of byte %d flipped: no error", bit, i)
			}
			checkError(t, err, "checkpoint")
			b[i] ^= 1 << bit
		}
	}
	if _, err := Decode(b); err != nil {
		t.Fatal(err)
	}
}

// FuzzDecode wants -fuzzminimizetime=10x: a checkpoint has thousands of bytes, and the fuzzer would spend its time on making
// interesting ones shorter.
func FuzzDecode(f *testing.F) {
	for name, c := range variants(f) {
		if name != "deep" { // large seeds are slow
			f.Add(mustEncode(f, c))
		}
	}
	header, tensors := split(mustEncode(f, tiny(f)))
	for _, test := range headerCases() {
		if len(test.new) < 1000 {
			f.Add(join(strings.Replace(header, test.old, test.new, 1), tensors))
		}
	}
	f.Add([]byte("hello"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := Decode(b); err != nil {
			checkError(t, err, "checkpoint")
		}
		c, err := Decode(sign(b)) // else the digest hides everything behind it
		if err != nil {
			checkError(t, err, "checkpoint")
			return
		}
		again, err := Decode(mustEncode(t, c))
		if err != nil {
			t.Fatal(err)
		}
		checkEqual(t, again, c)
	})
}
