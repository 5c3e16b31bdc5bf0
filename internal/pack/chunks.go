package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/klauspost/compress/zstd"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// Sizes of chunks, in bytes of the passages file. Smaller chunks make updates cheaper:
// with one or two pages in a chunk, an edited page costs little more than itself. The
// dictionary makes up for the lost context.
const (
	minChunk = 2 << 10  // a document's end cuts a chunk of this size with probability 1/2
	midChunk = 5 << 10  // and one of this size always
	maxChunk = 64 << 10 // the end of a line cuts a chunk of this size
	// dictionaryBytes is the size of the dictionary, spread over dictionaryPieces places.
	dictionaryBytes = 256 << 10
	// minDictionary is the smallest passages file with a dictionary.
	minDictionary = 4 * dictionaryBytes
	// maxDictionary and maxLine limit what a reader accepts.
	maxDictionary = 1 << 20
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
	dictionary bool  // part of the dictionary
}

// A Table lists the chunks of a pack in order. Its encoding, with numbers as varints:
//
//	the number of chunks n
//	n times: 8 bytes, the start of the SHA-256 of the chunk's lines
//	         2 * the number of bytes of its lines, plus 1 if it is part of the dictionary
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
		size := uint64(c.size) << 1
		if c.dictionary {
			size |= 1
		}
		b = binary.AppendUvarint(binary.AppendUvarint(append(b, c.digest[:]...), size), uint64(c.compressed))
	}
	return b
}

// ParseTable decodes a table.
func ParseTable(b []byte) (*Table, error) {
	const part = "chunk table"
	bad := false
	number := func() int64 {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > 2*MaxPassages {
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
	var dictionary int64
	for i := range t.Chunks {
		c := &t.Chunks[i]
		if len(b) < digestBytes {
			return nil, invalid(part, "truncated")
		}
		b = b[copy(c.digest[:], b):]
		size := number()
		c.size, c.dictionary, c.compressed = size>>1, size&1 == 1, number()
		c.offset, c.data = t.lines, t.data
		if bad || c.size == 0 || c.compressed == 0 || c.size > maxLine || c.compressed > maxLine {
			return nil, invalid(part, "invalid size of chunk %d", i)
		}
		if c.dictionary {
			dictionary += c.size
		}
		t.lines, t.data = t.lines+c.size, t.data+c.compressed
	}
	switch {
	case len(b) > 0:
		return nil, invalid(part, "%d bytes after the last chunk", len(b))
	case t.lines > MaxPassages || dictionary > maxDictionary+maxLine:
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

// chooseDictionary marks chunks from places spread over the file. They stay the same as
// long as the sizes before them do not change much, but nothing depends on that.
func (t *Table) chooseDictionary() {
	const pieces = 24
	if t.lines < minDictionary {
		return
	}
	var total int64
	next := 0
	for i := range t.Chunks {
		c := &t.Chunks[i]
		due := t.lines * int64(next) / pieces
		if c.offset >= due && total < dictionaryBytes && c.size <= maxChunk {
			// Take neighbors until this piece is full.
			c.dictionary = true
			total += c.size
			if total >= dictionaryBytes*int64(next+1)/pieces {
				next++
			}
		}
	}
}

// compress cuts a passages file into chunks and compresses them. The result depends only
// on the lines and on the version of the zstd package.
func compress(lines []byte) (*Table, []byte, error) {
	t := &Table{}
	start := 0
	for _, end := range cut(lines) {
		t.Chunks = append(t.Chunks, Chunk{digest: digestChunk(lines[start:end]), offset: int64(start), size: int64(end - start)})
		start = end
	}
	t.lines = int64(len(lines))
	t.chooseDictionary()
	var dictionary []byte
	for i := range t.Chunks {
		if c := &t.Chunks[i]; c.dictionary {
			dictionary = append(dictionary, lines[c.offset:c.offset+c.size]...)
		}
	}
	options := []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false)}
	alone, err := zstd.NewWriter(nil, options...)
	if err != nil {
		return nil, nil, err
	}
	defer alone.Close()
	with := alone
	if len(dictionary) > 0 {
		if with, err = zstd.NewWriter(nil, append(options, zstd.WithEncoderDictRaw(dictionaryID, dictionary))...); err != nil {
			return nil, nil, err
		}
		defer with.Close()
	}
	var data []byte
	for i := range t.Chunks {
		c := &t.Chunks[i]
		encoder := with
		if c.dictionary {
			encoder = alone
		}
		c.data = int64(len(data))
		data = encoder.EncodeAll(lines[c.offset:c.offset+c.size], data)
		c.compressed = int64(len(data)) - c.data
	}
	t.data = int64(len(data))
	return t, data, nil
}

// dictionaryID is the identifier of the dictionary in the frames.
const dictionaryID = 1

// A decompressor decompresses chunks.
type decompressor struct {
	*zstd.Decoder
	buffer []byte
}

// newDecompressor returns a decompressor for chunks with this dictionary, which may be
// empty.
func newDecompressor(dictionary []byte) (*decompressor, error) {
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(2 * maxLine)}
	if len(dictionary) > 0 {
		options = append(options, zstd.WithDecoderDictRaw(dictionaryID, dictionary))
	}
	d, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, err
	}
	return &decompressor{Decoder: d}, nil
}

// chunk decompresses the frame of a chunk and checks its digest. The result is valid
// until the next call. It never produces more than the size in the table.
func (d *decompressor) chunk(c *Chunk, frame []byte) ([]byte, error) {
	if int64(cap(d.buffer)) < c.size {
		d.buffer = make([]byte, 0, c.size)
	}
	// The decoder fails rather than exceed the capacity, which is the chunk's size.
	lines, err := d.DecodeAll(frame, d.buffer[:0:c.size])
	if err != nil {
		return nil, fmt.Errorf("cannot decompress: %w", err)
	}
	if int64(len(lines)) != c.size || digestChunk(lines) != c.digest {
		return nil, fmt.Errorf("digest or size differs")
	}
	return lines, nil
}
