package main

import (
	bin "encoding/binary"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/docsearch/docsearch/internal/index/leann/leanntest"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// testModel defines the test embedders: words of the same group have the same
// meaning.
var testModel = map[string]int{
	"flange": 1, "coupling": 1, "sprocket": 2, "cogwheel": 2, "gasket": 3, "seal": 3,
}

const testDimensions = 16

// testVector returns the vector of a text in the test embedders.
func testVector(text string) []float32 {
	v := make([]float32, testDimensions)
	v[0] = 0.1
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if group, ok := testModel[word]; ok {
			v[group] += 3
			continue
		}
		h := fnv.New32a()
		h.Write([]byte(word))
		v[4+h.Sum32()%(testDimensions-4)] += 0.1
	}
	return v
}

// serveEmbedders starts the server that scripts reach as $MODEL. It speaks the
// protocols of Ollama and OpenAI. The first path element selects its behavior:
// /well, /ill (only errors), /busy (fails every other request), /slow, /short
// (vectors are too short), /locked (requires a key).
func serveEmbedders(env *testscript.Env) {
	done := make(chan struct{})
	var requests atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		n := requests.Add(1)
		length := testDimensions
		how, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch {
		case how == "ill":
			http.Error(w, `{"error": "out of memory"}`, http.StatusInternalServerError)
			return
		case how == "busy" && n%2 == 1:
			w.Header().Set("Retry-After", "0.01")
			http.Error(w, `{"error": {"message": "too many requests"}}`, http.StatusTooManyRequests)
			return
		case how == "slow":
			select {
			case <-done:
			case <-r.Context().Done():
			}
			return
		case how == "locked" && r.Header.Get("Authorization") != "Bearer open sesame":
			http.Error(w, `{"error": {"message": "who are you?"}}`, http.StatusUnauthorized)
			return
		case how == "short":
			length = 2
		}
		type datum struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var a struct {
			Embeddings [][]float32 `json:"embeddings,omitempty"`
			Data       []datum     `json:"data,omitempty"`
		}
		for i, text := range req.Input {
			if v := testVector(text)[:length]; path == "api/embed" {
				a.Embeddings = append(a.Embeddings, v)
			} else {
				a.Data = append(a.Data, datum{i, v})
			}
		}
		json.NewEncoder(w).Encode(a)
	}))
	env.Setenv("MODEL", s.URL)
	env.Defer(func() {
		close(done)
		s.Close()
	})
}

// scriptCommands are additional commands for the scripts:
//
//	static-model FOLDER   writes a model2vec model that implements testModel
//	leann-vectors FOLDER  adds vectors to the LEANN index in FOLDER
//	older-format FILE     gives a file of an index the format of an older docsearch
//	lacks FOLDER TEXT     checks that no file below FOLDER contains TEXT
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"static-model": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 1 {
				ts.Fatalf("usage: static-model FOLDER")
			}
			writeStaticModel(ts, ts.MkAbs(args[0]))
		},
		"leann-vectors": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 1 {
				ts.Fatalf("usage: leann-vectors FOLDER")
			}
			writeLEANNVectors(ts, ts.MkAbs(args[0]))
		},
		"older-format": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 1 {
				ts.Fatalf("usage: older-format FILE")
			}
			data := []byte(ts.ReadFile(args[0]))
			bin.LittleEndian.PutUint32(data[12:], 0) // see package container
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
		},
		"setenv": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 2 {
				ts.Fatalf("usage: setenv VARIABLE FILE")
			}
			ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
		},
		"expand": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 2 {
				ts.Fatalf("usage: expand FROM TO")
			}
			ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(os.Expand(ts.ReadFile(args[0]), ts.Getenv)), 0o644))
		},
		"repeat": func(ts *testscript.TestScript, neg bool, args []string) {
			times, err := strconv.Atoi(args[len(args)-1])
			if neg || len(args) != 3 || err != nil {
				ts.Fatalf("usage: repeat FROM TO TIMES")
			}
			ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Repeat(ts.ReadFile(args[0]), times)), 0o644))
		},
		"lacks": func(ts *testscript.TestScript, neg bool, args []string) {
			if len(args) != 2 {
				ts.Fatalf("usage: [!] lacks FOLDER TEXT")
			}
			if found := filesWith(ts, ts.MkAbs(args[0]), args[1]); (len(found) > 0) != neg {
				ts.Fatalf("files with %q: %q", args[1], found)
			}
		},
		"wait-for": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) != 2 {
				ts.Fatalf("usage: wait-for FILE PATTERN")
			}
			waitFor(ts, args[0], regexp.MustCompile(args[1]))
		},
	}
}

// waitFor waits for a process in the background to write a match of the pattern.
func waitFor(ts *testscript.TestScript, file string, pattern *regexp.Regexp) {
	const timeout, pause = 30 * time.Second, 20 * time.Millisecond
	for waited := time.Duration(0); waited < timeout; waited += pause {
		// The file may not exist yet.
		if data, err := os.ReadFile(ts.MkAbs(file)); err == nil && pattern.Match(data) {
			return
		}
		time.Sleep(pause)
	}
	ts.Fatalf("no match of %s in %s after %s", pattern, file, timeout)
}

func writeStaticModel(ts *testscript.TestScript, dir string) {
	ts.Check(os.MkdirAll(dir, 0o700))
	words := append([]string{"[UNK]"}, slices.Sorted(maps.Keys(testModel))...)
	vocabulary := map[string]int{}
	var table []byte
	for i, word := range words {
		vocabulary[word] = i
		for j := range testDimensions {
			x := float32(0)
			if i > 0 && j == testModel[word] {
				x = 1
			}
			table = bin.LittleEndian.AppendUint32(table, math.Float32bits(x))
		}
	}
	tokenizer, err := json.Marshal(map[string]any{
		"added_tokens":  []any{},
		"normalizer":    map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model": map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
			"max_input_chars_per_word": 100, "vocab": vocabulary},
	})
	ts.Check(err)
	header, err := json.Marshal(map[string]any{"embeddings": map[string]any{
		"dtype": "F32", "shape": []int{len(words), testDimensions}, "data_offsets": []int{0, len(table)}}})
	ts.Check(err)
	for name, data := range map[string][]byte{
		"config.json": []byte(`{"normalize": true}`), "tokenizer.json": tokenizer,
		"model.safetensors": slices.Concat(bin.LittleEndian.AppendUint64(nil, uint64(len(header))), header, table),
	} {
		ts.Check(os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
}

func writeLEANNVectors(ts *testscript.TestScript, dir string) {
	lines, err := os.ReadFile(filepath.Join(dir, "documents.leann.passages.jsonl"))
	ts.Check(err)
	var vectors [][]float32
	for line := range strings.Lines(string(lines)) {
		p, err := passage.Decode([]byte(line))
		ts.Check(err)
		vectors = append(vectors, testVector(p.Text))
	}
	ts.Check(os.WriteFile(filepath.Join(dir, "documents.index"), leanntest.FAISS(vectors, leanntest.Marked), 0o600))
}
