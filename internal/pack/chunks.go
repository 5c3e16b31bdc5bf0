package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// Sizes of chunks, in bytes of the passages file. Smaller chunks make updates cheaper:
// with a few pages in a chunk, an edited page costs little more than itself. The
// dictionary makes up for the lost context.
const (
	minChunk = 4 << 10  // a document's end cuts a chunk of this size with probability 1/2
	midChunk = 10 << 10 // and one of this size always
	maxChunk = 64 << 10 // the end of a line cuts a chunk of this size
	// The dictionary of a chunk is the start of the encoded chunks before it. It grows in
	// steps, because each step costs the preparation of an encoder.
	minDictionary = 64 << 10
	maxDictionary = 8 << 20
	maxLine       = passage.MaxLine + maxChunk
)

// digestBytes is the number of bytes of a chunk's digest in the table. The digest finds
// a chunk among those of another version; the manifest's SHA-256 of the whole file
// authenticates the result.
const digestBytes = 8

// A chunkDigest is the start of the SHA-256 of a chunk's lines.
type chunkDigest [digestBytes]byte

func digestChunk(lines []byte) chunkDigest {
	sum := sha256.Sum256(lines)
	return chunkDigest(sum[:digestBytes])
}

// A Chunk is a range of the passages file.
type Chunk struct {
	digest     chunkDigest
	size       int64 // bytes of lines
	compressed int64 // bytes of data
	offset     int64 // of its lines in the passages file; not stored
	data       int64 // of its frame in the data; not stored
}

// A Table lists the chunks of a pack in order. Its encoding, with numbers as varints:
//
//	the number of chunks n
//	n times: 8 bytes, the start of the SHA-256 of the chunk's lines
//	         the number of bytes of its lines
//	         the number of bytes of its frame
type Table struct {
	Chunks []Chunk
	lines  int64
	data   int64
}

// Encode returns the encoding of the table.
func (t *Table) Encode() []byte {
	b := binary.AppendUvarint(nil, uint64(len(t.Chunks)))
	for i := range t.Chunks {
		c := &t.Chunks[i]
		b = binary.AppendUvarint(binary.AppendUvarint(append(b, c.digest[:]...), uint64(c.size)), uint64(c.compressed))
	}
	return b
}

// ParseTable decodes a table.
func ParseTable(b []byte) (*Table, error) {
	const part = "chunk table"
	bad := false
	number := func() int64 {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > MaxPassages {
			bad = true
			return 0
		}
		b = b[n:]
		return int64(v)
	}
	const smallest = digestBytes + 2
	n := number()
	if bad || n > int64(len(b))/smallest {
		return nil, invalid(part, "invalid number of chunks")
	}
	t := &Table{Chunks: make([]Chunk, n)}
	for i := range t.Chunks {
		c := &t.Chunks[i]
		if len(b) < digestBytes {
			return nil, invalid(part, "truncated")
		}
		b = b[copy(c.digest[:], b):]
		c.size, c.compressed = number(), number()
		c.offset, c.data = t.lines, t.data
		if bad || c.size == 0 || c.compressed == 0 || c.size > maxLine || c.compressed > maxLine {
			return nil, invalid(part, "invalid size of chunk %d", i)
		}
		t.lines, t.data = t.lines+c.size, t.data+c.compressed
	}
	switch {
	case len(b) > 0:
		return nil, invalid(part, "%d bytes after the last chunk", len(b))
	case t.lines > MaxPassages:
		return nil, invalid(part, "too large")
	}
	return t, nil
}

// cut returns the ends of the chunks of a passages file. The decision at each end of a
// line depends only on the current chunk and on the next line.
func cut(lines []byte) []int {
	var ends []int
	start, document := 0, ""
	for at := 0; at < len(lines); {
		end := len(lines)
		if i := bytes.IndexByte(lines[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		next := documentOf(lines[at:end])
		if size := at - start; size > 0 && isCut(size, next, next != document, lines[at:end]) {
			ends = append(ends, at)
			start = at
		}
		document, at = next, end
	}
	if len(lines) > 0 {
		ends = append(ends, len(lines))
	}
	return ends
}

// isCut reports whether a chunk of that size ends before a line of a document.
func isCut(size int, document string, isNew bool, line []byte) bool {
	if isNew {
		return size >= midChunk || size >= minChunk && hash([]byte(document))&1 == 0 || hash([]byte(document))&7 == 0
	}
	return size >= maxChunk || size >= maxChunk/2 && hash(line)&3 == 0
}

func hash(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	v := h.Sum64()
	return v ^ v>>29
}

// documentOf returns the key of a line's document.
func documentOf(line []byte) string {
	document, _ := passage.DecodeLinks(line)
	return document
}

// A history contains the encoded chunks of a pack up to the current one, as far as a
// dictionary can contain them.
type history struct {
	encoded []byte
	size    int // of the dictionary
}

// add adds the next chunk. It reports whether the dictionary has grown.
func (h *history) add(encoded []byte) bool {
	if h.isFull() {
		return false
	}
	h.encoded = append(h.encoded, encoded...)
	before := h.size
	for next := max(minDictionary, h.size+h.size/4); next <= min(len(h.encoded), maxDictionary); next += next / 4 {
		h.size = next
	}
	return h.size > before
}

// isFull reports whether the next step would exceed maxDictionary.
func (h *history) isFull() bool { return h.size+h.size/4 > maxDictionary }

func (h *history) dictionary() []byte { return h.encoded[:h.size] }

// compress cuts a passages file into chunks and compresses them. The result depends only
// on the lines and on the version of the zstd package.
func compress(lines []byte) (*Table, []byte, error) {
	t := &Table{lines: int64(len(lines))}
	var h history
	encoder, err := newEncoder(nil)
	if err != nil {
		return nil, nil, err
	}
	var data []byte
	start := 0
	for _, end := range cut(lines) {
		chunk := lines[start:end]
		encoded := encodeLines(chunk)
		c := Chunk{digest: digestChunk(chunk), offset: int64(start), size: int64(len(chunk)), data: int64(len(data))}
		data = encoder.EncodeAll(encoded, data)
		c.compressed = int64(len(data)) - c.data
		t.Chunks = append(t.Chunks, c)
		if h.add(encoded) {
			if encoder, err = newEncoder(h.dictionary()); err != nil {
				return nil, nil, err
			}
		}
		start = end
	}
	t.data = int64(len(data))
	return t, data, nil
}

// dictionaryID is the identifier of each dictionary in the frames.
const dictionaryID = 1

// newEncoder returns an encoder for EncodeAll, which needs no Close.
func newEncoder(dictionary []byte) (*zstd.Encoder, error) {
	options := []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false)}
	if len(dictionary) > 0 {
		options = append(options, zstd.WithWindowSize(2*maxDictionary),
			zstd.WithEncoderDictRaw(dictionaryID, dictionary))
	}
	return zstd.NewWriter(nil, options...)
}

// A decompressor decompresses the chunks of a pack in order.
type decompressor struct {
	history
	decoder        *zstd.Decoder
	encoded, lines []byte // of the last chunk
}

// decode returns the lines of the next chunk. They are valid until the next call. It never
// produces more than the size in the table. An error changes nothing.
func (d *decompressor) decode(c *Chunk, frame []byte) ([]byte, error) {
	if d.decoder == nil {
		options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxWindow(2 * maxLine)}
		if d.size > 0 {
			options = append(options, zstd.WithDecoderDictRaw(dictionaryID, d.dictionary()))
		}
		var err error
		if d.decoder, err = zstd.NewReader(nil, options...); err != nil {
			return nil, err
		}
	}
	// An encoded chunk has at most one byte more than its lines. The decoder fails rather
	// than exceed the capacity.
	limit := int(c.size) + 1
	d.encoded = slices.Grow(d.encoded[:0], limit)[:0:limit]
	encoded, err := d.decoder.DecodeAll(frame, d.encoded)
	if err != nil {
		return nil, fmt.Errorf("cannot decompress: %w", err)
	}
	lines, err := decodeLines(d.lines[:0], encoded, int(c.size))
	if err != nil {
		return nil, err
	}
	d.lines = lines
	if digestChunk(lines) != c.digest {
		return nil, errors.New("digest differs")
	}
	d.next(encoded)
	return lines, nil
}

// skip tells the decompressor the lines of a chunk that needs no decompression.
func (d *decompressor) skip(lines []byte) {
	if !d.isFull() {
		d.next(encodeLines(lines))
	}
}

func (d *decompressor) next(encoded []byte) {
	if d.add(encoded) {
		d.Close()
	}
}

// Close frees the memory of the decoder.
func (d *decompressor) Close() {
	if d.decoder != nil {
		d.decoder.Close()
		d.decoder = nil
	}
}
