package hf

import "chargpt/model"

// tokenizerFile is tokenizer.json: byte-pair encoding without a single merge, over a text that was split into its
// characters. Nothing is normalized, so whitespace, combining marks and unusual spaces survive. A character that the
// vocabulary lacks is dropped, because there is no token for the unknown.
type tokenizerFile struct {
	Version       string       `json:"version"`
	Truncation    *struct{}    `json:"truncation"`
	Padding       *struct{}    `json:"padding"`
	AddedTokens   []struct{}   `json:"added_tokens"`
	Normalizer    *struct{}    `json:"normalizer"`
	PreTokenizer  preTokenizer `json:"pre_tokenizer"`
	PostProcessor *struct{}    `json:"post_processor"`
	Decoder       decoder      `json:"decoder"`
	Model         bpe          `json:"model"`
}

// preTokenizer splits a text at what matches a pattern.
type preTokenizer struct {
	Type     string            `json:"type"`
	Pattern  map[string]string `json:"pattern"`
	Behavior string            `json:"behavior"`
	Invert   bool              `json:"invert"`
}

type decoder struct {
	Type string `json:"type"`
}

type bpe struct {
	Type         string         `json:"type"`
	Dropout      *float64       `json:"dropout"`
	UnkToken     *string        `json:"unk_token"`
	Prefix       *string        `json:"continuing_subword_prefix"`
	Suffix       *string        `json:"end_of_word_suffix"`
	FuseUnk      bool           `json:"fuse_unk"`
	ByteFallback bool           `json:"byte_fallback"`
	IgnoreMerges bool           `json:"ignore_merges"`
	Vocab        map[string]int `json:"vocab"`
	Merges       []string       `json:"merges"`
}

func newTokenizer(vocab []string) tokenizerFile {
	ids := make(map[string]int, len(vocab))
	for id, char := range vocab {
		ids[char] = id
	}
	return tokenizerFile{
		Version:      "1.0",
		AddedTokens:  []struct{}{},
		PreTokenizer: preTokenizer{"Split", map[string]string{"Regex": `[\s\S]`}, "Isolated", false},
		Decoder:      decoder{"Fuse"}, // tokens are joined without a space
		Model:        bpe{Type: "BPE", Vocab: ids, Merges: []string{}},
	}
}

// tokenizerConfig is tokenizer_config.json. The cleaning up that it forbids would take away spaces before punctuation.
type tokenizerConfig struct {
	Class          string `json:"tokenizer_class"`
	ModelMaxLength int    `json:"model_max_length"`
	CleanUp        bool   `json:"clean_up_tokenization_spaces"`
}

func newTokenizerConfig(c model.Config) tokenizerConfig {
	return tokenizerConfig{"PreTrainedTokenizerFast", c.BlockSize, false}
}
