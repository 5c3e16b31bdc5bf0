package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/docsearch/docsearch/internal/eval"
)

// Limits of the costs. A figure beyond its limit is a regression.
const (
	maxDenialTokens = 2000 // median
	maxToolTokens   = 900  // tools and instructions together
	minNewPassages  = .80  // of the call after a denial
	// knownShare is the share of a passage's text in the denial from which the passage
	// counts as repeated.
	knownShare = .5
)

// encoding counts tokens. Its counts are estimates: the models of most agents have
// encodings of their own, which are not public.
var encoding = codec.NewO200kBase()

// cost measures what the texts for the agent cost in tokens: the denials of the answerable
// searches, the calls that they name, and the texts of each session.
func (l *harness) cost(out *output) error {
	if _, err := l.open(&l.docs); err != nil {
		return err
	}
	searches, err := eval.ReadLines[search](filepath.Join(l.collections, "docs", "denials.jsonl"))
	if err != nil {
		return err
	}
	h, err := l.newHook("cost", l.configuration(docSets...))
	if err != nil {
		return err
	}
	s, err := h.startServer()
	if err != nil {
		return err
	}
	c := costs{}
	if err := errors.Join(c.measure(h, s, searches, out.cases), s.close()); err != nil {
		return err
	}
	out.misses = append(out.misses, c.table(&out.tables)...)
	return nil
}

// costs are the lengths of texts in tokens.
type costs struct {
	denials, calls             []int
	start, tools, instructions int
	passages, fresh            int // numbers of passages in the calls; fresh: not in the denial
}

func (c *costs) measure(h *hook, s *server, searches []search, cases io.Writer) error {
	for _, q := range searches {
		if !q.Answerable {
			continue
		}
		r, err := h.askSearch(q.Query)
		if err != nil {
			return err
		}
		if !r.Denied {
			continue
		}
		c.denials = append(c.denials, tokens(r.Reason+"\n"+r.Context))
		arguments, err := namedCall(r.Reason + "\n" + r.Context)
		if err != nil {
			return fmt.Errorf("%q: %w", q.Query, err)
		}
		result, err := s.call("search", arguments)
		if err != nil {
			return fmt.Errorf("%q: %w", q.Query, err)
		}
		c.calls = append(c.calls, tokens(result))
		fmt.Fprintf(cases, "\n#### call after the denial of %q: %s\n\n%s", q.Query, arguments, result)
		for _, text := range fencedTexts(result) {
			c.passages++
			if knownPart(text, r.Context) < knownShare {
				c.fresh++
			}
		}
	}
	if len(c.denials) == 0 {
		return errors.New("no search was denied")
	}
	start, err := h.ask(map[string]any{"hook_event_name": "SessionStart", "source": "startup", "cwd": h.folder})
	if err != nil {
		return err
	}
	c.start, c.instructions = tokens(start.Context), tokens(s.instructions)
	for _, t := range s.tools {
		c.tools += tokens(t.Name + "\n" + t.Description + "\n" + string(t.InputSchema))
	}
	return nil
}

func (c *costs) table(w io.Writer) (misses []string) {
	tableHeader(w, "Cost in tokens", "text", "texts", "median", "90% below", "longest")
	line := func(name string, list ...int) {
		slices.Sort(list)
		tableRow(w, name, len(list), quantile(list, .5), quantile(list, .9), list[len(list)-1])
	}
	line("denial, with its passages", c.denials...)
	line("result of the call that it names", c.calls...)
	line("context at session start", c.start)
	line("server instructions", c.instructions)
	line("tools: name, description, arguments", c.tools)
	share := float64(c.fresh) / float64(max(1, c.passages))
	fmt.Fprintf(w, "\nThe calls return %d passages. %d of them (%s) are not in the denial.\n", c.passages, c.fresh, percent(c.fresh, c.passages))
	if n := quantile(c.denials, .5); n > maxDenialTokens {
		misses = append(misses, fmt.Sprintf("a denial has %d tokens in the median, above its limit of %d", n, maxDenialTokens))
	}
	if n := c.tools + c.instructions; n > maxToolTokens {
		misses = append(misses, fmt.Sprintf("tools and instructions have %d tokens, above their limit of %d", n, maxToolTokens))
	}
	if share < minNewPassages {
		misses = append(misses, fmt.Sprintf("%.2f of the passages of the call after a denial are new, below the limit of %.2f", share, minNewPassages))
	}
	return misses
}

func tokens(text string) int {
	n, err := encoding.Count(text)
	if err != nil {
		panic(err) // the encoding's own pattern failed
	}
	return n
}

// quantile returns the element of a sorted list below which a share of the others is.
func quantile(sorted []int, share float64) int {
	return sorted[int(share*float64(len(sorted)-1)+.5)]
}

// namedCall returns the arguments of the search call in a denial, the last one: the passages
// before it may quote calls.
func namedCall(denial string) (last json.RawMessage, err error) {
	for line := range strings.Lines(denial) {
		if tool, arguments, ok := strings.Cut(strings.TrimSpace(line), " {"); ok && strings.HasSuffix(tool, "__search") {
			last = json.RawMessage("{" + arguments)
		}
	}
	if last == nil {
		return nil, errors.New("the denial names no call of search")
	}
	return last, nil
}

// fencedTexts returns the texts between fences.
func fencedTexts(result string) []string {
	var texts []string
	fence, text := "", ""
	for line := range strings.Lines(result) {
		marks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(marks) >= 3:
			fence, text = line, ""
		case fence != "" && line == fence:
			texts, fence = append(texts, text), ""
		case fence != "":
			text += line
		}
	}
	return texts
}

// knownPart returns the share of a text that is in the context, by whole lines.
func knownPart(text, context string) float64 {
	known, all := 0, 0
	context = "\n" + context + "\n"
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		all += len(line)
		if strings.Contains(context, "\n"+line+"\n") {
			known += len(line)
		}
	}
	return float64(known) / float64(max(1, all))
}

// A server runs docsearch serve like a client, for the user of a hook.
type server struct {
	cmd          *exec.Cmd
	in           io.WriteCloser
	out          *bufio.Reader
	stderr       bytes.Buffer
	calls        int
	instructions string
	tools        []struct {
		Name, Description string
		InputSchema       json.RawMessage
	}
}

func (h *hook) startServer() (*server, error) {
	s := &server{cmd: exec.CommandContext(h.lab.ctx, h.lab.program, append([]string{"serve"}, databaseFlags(docSets)...)...)}
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = h.folder, h.environment(), &s.stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.in, s.out = in, bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	var started struct{ Instructions string }
	var list struct{ Tools json.RawMessage }
	err = errors.Join(
		s.request("initialize", json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"eval","version":"1"}}`), &started),
		s.request("tools/list", json.RawMessage("{}"), &list))
	if err == nil {
		err = json.Unmarshal(list.Tools, &s.tools)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.instructions = started.Instructions
	return s, nil
}

// call calls a tool and returns the text of its result.
func (s *server) call(tool string, arguments json.RawMessage) (string, error) {
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		return "", err
	}
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := s.request("tools/call", params, &result); err != nil {
		return "", err
	}
	if result.IsError || len(result.Content) != 1 {
		return "", fmt.Errorf("%s %s: %v", tool, arguments, result.Content)
	}
	return result.Content[0].Text, nil
}

// request sends a request and decodes the result of its answer.
func (s *server) request(method string, params json.RawMessage, result any) error {
	s.calls++
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.calls, method, params); err != nil {
		return err
	}
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("docsearch serve: %s: %w: %s", method, err, &s.stderr)
	}
	var answer struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(line, &answer); err != nil || answer.Error != nil {
		return fmt.Errorf("docsearch serve: %s: %s", method, line)
	}
	return json.Unmarshal(answer.Result, result)
}

// close ends the server.
func (s *server) close() error {
	return errors.Join(s.in.Close(), s.cmd.Wait())
}
