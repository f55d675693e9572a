// Package data turns text into what a model trains on: characters become ids, ids become batches.
//
// Read it in this order:
//
//	tokenizer.go  characters and their ids
//	text.go       a text file as ids, read in one pass
//	tokens.go     the ids themselves, a byte or two each
//	dataset.go    the training and the validation part, random batches
//	windows.go    a whole part in consecutive windows, for losses
//	bigram.go     the baselines: a Markov chain, and single characters
//	plays.go      the text to train on when there is no other
//
// A character is a Unicode code point (a rune). Texts are taken as they are: a carriage return is a character
// like any other. Only a byte-order mark at the start of what [Read] reads is dropped.
//
// Everything here is safe for concurrent use, except writing to the buffers that [Windows] and [Subset] lend.
package data
