package lexical

import (
	"encoding/binary"
	"fmt"
)

// The columns of inputs: first the fields, then these.
const (
	columnInLinks = fieldCount + iota
	columnPageLinks
	columnKind
	columnVersion
	columnCount
)

// inputsChunk is the number of passages per encoded column.
const inputsChunk = 512

// inputValues fills v with a column of the passages, other than columnVersion.
func inputValues(v []uint32, infos []passageInfo, column int) {
	for i := range infos {
		p := &infos[i]
		switch column {
		default:
			v[i] = p.length(column) - p.wordCounts[column]
		case columnInLinks:
			v[i] = p.inLinks
		case columnPageLinks:
			v[i] = p.pageLinks
		case columnKind:
			v[i] = uint32(p.depth) << 2
			if p.manual {
				v[i] |= 2
			}
			if p.aside {
				v[i] |= 1
			}
		}
	}
}

// A namedVersion is the version in an address, with its family (see versionOf).
type namedVersion struct {
	family uint64
	version
}

// appendInputs appends the encoded section inputs.
func appendInputs(b []byte, infos []passageInfo) []byte {
	numbers := make(map[namedVersion]uint32)
	var versions []namedVersion
	v := make([]uint32, inputsChunk)
	for ; len(infos) > 0; infos = infos[min(inputsChunk, len(infos)):] {
		chunk := infos[:min(inputsChunk, len(infos))]
		for column := range columnCount {
			v := v[:len(chunk)]
			if column == columnVersion {
				for i := range chunk {
					named := namedVersion{chunk[i].family, chunk[i].version}
					if named.version == 0 {
						v[i] = 0
						continue
					}
					n, ok := numbers[named]
					if !ok {
						versions = append(versions, named)
						n = uint32(len(versions))
						numbers[named] = n
					}
					v[i] = n
				}
			} else {
				inputValues(v, chunk, column)
			}
			before := uint32(0)
			for i, x := range v {
				v[i] = zigzag(x - before)
				if column >= columnInLinks {
					before = x
				}
			}
			b = appendPFOR(b, v)
		}
	}
	for _, named := range versions {
		b = binary.LittleEndian.AppendUint64(b, named.family)
		b = binary.LittleEndian.AppendUint64(b, uint64(named.version))
	}
	return b
}

// inputs decodes the section inputs: the properties of each passage, by ordinal, from
// which impacts and priors were computed.
func (x *Index) inputs() ([]passageInfo, error) {
	s, err := x.file.Section("inputs")
	if err != nil {
		return nil, err
	}
	data, err := s.All()
	if err != nil {
		return nil, err
	}
	records, err := x.passages.All()
	if err != nil {
		return nil, err
	}

	infos := make([]passageInfo, x.passageCount)
	for i := range infos {
		r := records[i*passageSize:]
		copy(infos[i].shortLengths[:], r)
		infos[i].bodyLength = binary.LittleEndian.Uint32(r[8:])
	}

	named := make([]uint32, x.passageCount)
	v := make([]uint32, inputsChunk)
	for from := 0; from < x.passageCount; from += inputsChunk {
		chunk := infos[from:min(from+inputsChunk, x.passageCount)]
		for column := range columnCount {
			v := v[:len(chunk)]
			var ok bool
			if data, ok = readPFOR(v, data); !ok {
				return nil, s.Corrupt(0, "truncated columns")
			}
			before := uint32(0)
			for i, d := range v {
				value := before + unzigzag(d)
				if column >= columnInLinks {
					before = value
				}
				p := &chunk[i]
				switch column {
				default:
					p.wordCounts[column] = p.length(column) - value
				case columnInLinks:
					p.inLinks = value
				case columnPageLinks:
					p.pageLinks = value
				case columnKind:
					p.aside, p.manual, p.depth = value&1 != 0, value&2 != 0, uint8(value>>2)
				case columnVersion:
					named[from+i] = value
				}
			}
		}
	}

	if len(data)%16 != 0 {
		return nil, s.Corrupt(s.Len(), "truncated versions")
	}
	for i, n := range named {
		if n == 0 {
			continue
		}
		if uint64(n) > uint64(len(data)/16) {
			return nil, s.Corrupt(s.Len(), fmt.Sprintf("version %d of %d", n, len(data)/16))
		}
		r := data[16*(n-1):]
		infos[i].family, infos[i].version = binary.LittleEndian.Uint64(r), version(binary.LittleEndian.Uint64(r[8:]))
	}
	return infos, nil
}

// zigzag maps integers close to 0, of either sign, to small numbers.
func zigzag(x uint32) uint32 { return x<<1 ^ uint32(int32(x)>>31) }

func unzigzag(x uint32) uint32 { return x>>1 ^ -(x & 1) }
