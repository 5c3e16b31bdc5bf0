// Package site downloads the pages of a documentation site into a folder, the
// mirror, and keeps it up to date. It does not know the contents of pages.
//
// Pages are found through the site's llms.txt, its llms-full.txt, which
// contains all of them, its sitemaps, or links, in that order. A list of only a
// few pages counts as an overview; its pages are the start of the links.
//
// The user's URL and the site limit the downloads:
//
//   - Requests stay within the prefix, scheme and port, except for robots.txt
//     and the page lists at the site's root. Redirects are followed one by one;
//     each target must be an allowed page.
//   - Connections go to public addresses only. Addresses of the user's machine
//     or network must be in the URL (127.0.0.1, localhost, 10.0.0.5), with the
//     port, or be allowed by Options.Private. The address is checked when it is
//     dialed, so DNS rebinding does not bypass the check. See Transport, which
//     the downloads of packs use, too.
//   - The crawler obeys robots.txt and Retry-After and pauses between requests.
//   - The headers with secrets (see Header) go to the origin of the user's URL only. Pages
//     and the journal never contain their values, and other users cannot read the mirror.
//   - The size of a page, the number of pages, the time of each request and the
//     total bytes received, including page lists and robots.txt, are limited.
//     The Report lists the limits that were reached. Sizes are counted after
//     decompression.
//
// # The mirror
//
// The folder contains a journal, the pages, and a lock that a Fetch holds:
//
//	journal.jsonl      the state of each page, one JSON object per line
//	pages/3f/3fa9...   the contents, as served but decompressed,
//	                   named by the SHA-256 of their bytes
//	lock
//
// The journal begins with a header line:
//
//	{"mirror":1,"url":"https://docs.test/guide/","prefix":"https://docs.test/guide/"}
//
// It is followed, in chronological order, by the start of a run, its results,
// and its end:
//
//	{"run":3,"began":"2026-01-02T03:04:05Z"}
//	{"run":3,"url":"https://docs.test/guide/a.html","type":"text/html","hash":"3fa9...","size":5120,
//	 "etag":"\"x\"","modified":"Mon, 02 Jan 2006 15:04:05 GMT","fetched":"2026-01-02T03:04:06Z"}
//	{"run":3,"url":"https://docs.test/guide/b","to":"https://docs.test/guide/b.html"}
//	{"run":3,"url":"https://docs.test/guide/c","skip":"image/png is not text"}
//	{"run":3,"ended":"2026-01-02T03:05:00Z","way":"sitemap"}
//
// A later line for a URL replaces earlier ones. A page's contents are written
// before its line. An interrupted run therefore keeps its downloads, and the
// next run resumes: it requests only URLs without a line of the run. A
// completed run rewrites the journal with the current state and removes
// unreferenced contents. Until then the pages of the previous run stay.
// Unreadable or torn lines are skipped, and their pages are downloaded again.
package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/progress"
)

// Discovery is a method to find the pages of a site.
type Discovery string

const (
	ByLLMs     Discovery = "llms.txt"      // pages listed in llms.txt
	ByLLMsFull Discovery = "llms-full.txt" // llms-full.txt is the only page
	BySitemap  Discovery = "sitemap"       // pages listed in sitemaps
	ByLinks    Discovery = "links"         // links, starting at the first page
)

// Discoveries returns all methods in the order in which they are tried.
func Discoveries() []Discovery { return []Discovery{ByLLMs, ByLLMsFull, BySitemap, ByLinks} }

// Options configure a download. Only URL and Dir are required.
type Options struct {
	URL string // of the first page or of a page list
	Dir string // folder of the mirror; created if missing

	// Prefix is the common prefix of all page URLs. The default is URL without a trailing
	// file name, or the folder of URL if that is a page.
	Prefix    string
	Discovery Discovery // "": the first one that finds pages

	MaxPages int   // 0: DefaultMaxPages
	MaxBytes int64 // for all received bytes, and for the pages of the mirror; 0: DefaultMaxBytes
	MaxPage  int64 // bytes per page; 0: DefaultMaxPage

	Delay       time.Duration // between requests; 0: the default, negative: none
	Concurrency int           // simultaneous requests; 0: 4
	Timeout     time.Duration // per request, including the response; 0: 30 s
	Attempts    int           // per page; 0: 3
	UserAgent   string        // "": "docsearch"; the part before the first "/" is the name in robots.txt
	Headers     []Header      // with secrets, for requests to the origin of URL

	IgnoreRobots bool // request pages that robots.txt disallows
	Private      bool // allow host names that resolve to this machine or a private network

	// Refuse returns the reason to skip a page, or ""; nil: download all pages.
	// Links on refused pages are not followed. path is the page's path below
	// the prefix.
	Refuse func(path string) string

	// Supports reports whether the extension of a page's path is that of a format that the
	// caller reads. It decides over a content type that any text or data may have. nil: none.
	Supports func(path string) bool

	// KeepLost keeps mirrored pages if the site seems to have lost most of them
	// or serves the same page in their place, which is usually an error of the
	// site or a login page.
	KeepLost bool

	Progress progress.Func

	// Replaced in tests.
	now      func() time.Time
	sleep    func(context.Context, time.Duration) error
	resolver *net.Resolver
}

// Default limits.
const (
	DefaultMaxPages = 20_000
	DefaultMaxBytes = 2 << 30
	DefaultMaxPage  = 16 << 20
)

// A Report describes the outcome of a download.
type Report struct {
	Discovery Discovery
	Found     int // pages within the limit
	Fetched   int // new or changed
	Unchanged int
	Resumed   int // downloaded earlier by the same, interrupted run
	Redirects int
	Bytes     int64     // received, after decompression
	Removed   []string  // mirrored pages that the site no longer has
	Lost      int       // pages that the site no longer has and the mirror keeps (see Options.KeepLost)
	Failed    []Outcome // pages and page lists that failed to download
	Skipped   []Outcome // skipped pages
	Limits    []string  // sentences about limits that were reached and pages that they leave out
	Pages     int       // in the mirror
	Complete  bool      // the run is complete: the next one requests every page again
}

// An Outcome is the outcome of one URL.
type Outcome struct{ URL, Reason string }

// A MovedError reports that a site has moved. Nothing was downloaded from the
// new URL.
type MovedError struct{ From, To string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("%s has moved to %s", e.From, e.To)
}

// A LimitError reports that the byte limit was reached before the first page.
type LimitError struct {
	URL   string
	Bytes int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("cannot download %s: reached the limit of %s before the first page", e.URL, size(e.Bytes))
}

// Fetch creates or updates the mirror of a site. It requests only pages that
// may have changed. An interrupted Fetch loses nothing: the next one with the
// same URL and prefix resumes.
//
// A failed page is not an error: the report lists it, and the mirror keeps its old
// contents. Pages that the site no longer has are removed. If there is no page
// at all, Fetch returns an error together with a valid report.
func Fetch(ctx context.Context, opt Options) (Report, error) {
	sc, err := newScope(opt.URL, opt.Prefix)
	if err != nil {
		return Report{}, err
	}
	if opt.Discovery != "" && !slices.Contains(Discoveries(), opt.Discovery) {
		return Report{}, fmt.Errorf("invalid discovery method %q: want one of %v", opt.Discovery, Discoveries())
	}
	opt = withDefaults(opt, sc)
	login, err := readLogin(opt.Headers, sc)
	if err != nil {
		return Report{}, err
	}
	r := newRun(opt, sc)
	r.client.login = login
	defer r.client.close()
	if opt.Prefix == "" && !sc.listed {
		r.widen(ctx)
	}
	if r.journal, err = openJournal(opt.Dir, sc, login != nil, opt.now()); err != nil {
		return Report{}, err
	}
	err = r.fetch(ctx)
	err = errors.Join(err, r.journal.close())
	return r.finish(), err
}

func withDefaults(opt Options, sc *scope) Options {
	opt.MaxPages = positive(opt.MaxPages, DefaultMaxPages)
	opt.MaxBytes = positive(opt.MaxBytes, DefaultMaxBytes)
	opt.MaxPage = positive(opt.MaxPage, DefaultMaxPage)
	opt.Concurrency = positive(opt.Concurrency, 4)
	opt.Timeout = positive(opt.Timeout, 30*time.Second)
	opt.Attempts = positive(opt.Attempts, 3)
	opt.UserAgent = cmp.Or(opt.UserAgent, "docsearch")
	opt.Discovery = cmp.Or(opt.Discovery, discoveryFor(sc.start))
	if opt.Delay == 0 && !sc.isLocal() {
		opt.Delay = 200 * time.Millisecond
	}
	if opt.now == nil {
		opt.now = time.Now
	}
	if opt.sleep == nil {
		opt.sleep = sleep
	}
	return opt
}

// positive returns n if it is positive, else the default.
func positive[T int | int64 | time.Duration](n, value T) T {
	if n > 0 {
		return n
	}
	return value
}

// discoveryFor returns the discovery method that the user's URL implies by
// naming a page list.
func discoveryFor(start *url.URL) Discovery {
	switch name := strings.ToLower(path.Base(start.Path)); {
	case name == "llms.txt":
		return ByLLMs
	case name == "llms-full.txt":
		return ByLLMsFull
	case strings.HasPrefix(name, "sitemap") && (strings.HasSuffix(name, ".xml") || strings.HasSuffix(name, ".xml.gz")):
		return BySitemap
	}
	return ""
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
