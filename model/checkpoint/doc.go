// Package checkpoint keeps a model in one file: weights, configuration and vocabulary, and what training needs to go on.
//
// # Format
//
// A file is a safetensors file: the length of the header (8 bytes, little-endian), the header (JSON, padded with spaces to a
// multiple of 8), and the tensors, row-major and little-endian, without gaps. The header starts with "__metadata__",
// strings by name:
//
//	format_version  "1"
//	config          the model's Config as JSON: vocab_size, block_size, n_layer and so on, and no other keys
//	vocab           JSON array of one-character strings, in id order
//	train           JSON of the trainer's own: what is no tensor; absent if there is none
//	sha256          see below
//
// The tensors are
//
//	NAME             F32  a weight, for each name and shape of Config.ParameterShapes
//	optim.KIND.NAME  F32  what an optimizer keeps for a weight, of its shape; KIND is m or v for AdamW, muon for Muon
//	bigram.row_start I32  the Markov chain of the training text, a data.Bigram: (V+1)
//	bigram.next      I32  all three or none
//	bigram.count     I32
//
// # Digest
//
// sha256 is the SHA-256, in 64 lower-case hexadecimal digits, of the whole file with those 64 digits replaced by "0": the
// header's length, the header and the tensors. The digits follow the only place in the header that reads "sha256":" with
// unescaped quotes and no space; other strings cannot contain it, because quotes in them are escaped. The version is
// found in the same way, before the digest is checked. The same content is always the same bytes.
//
// # Trust
//
// [Decode] and [Read] take any bytes: what is wrong with them is one line of error. They allocate about the file's size
// once more for its tensors, and for its header, which has at most 4 MiB, at most some 120 MB, garbage included. Only
// structure is checked: a weight may be any number, also infinite or NaN.
//
// Read it in this order: checkpoint.go (the contents), encode.go, decode.go, header.go (what a hostile header cannot do),
// digest.go, file.go (a save that is whole or does not happen), model.go.
package checkpoint
