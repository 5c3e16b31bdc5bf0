// Package site fetches the pages of a documentation site into a folder, the
// mirror, and keeps them fresh there. It knows nothing of what the pages say.
//
// Which pages there are is told by the site's llms.txt, else by its
// llms-full.txt, which is all of them in one, else by its sitemaps; where there
// is none of these, pages are found by the links between them. A list of a few
// pages is no list but an overview, and its pages are where links begin.
//
// What it fetches and how often is bound by the user's URL and by the site:
//
//   - Nothing is asked for outside the prefix, by another scheme or from
//     another port, except robots.txt and the lists of pages at the site's
//     root. Redirects are followed one by one, each a page like any other.
//   - A connection goes to a public address. One of the user's own machine or
//     network must have been named by the URL (127.0.0.1, localhost, 10.0.0.5)
//     or be allowed by Options.Private. The address is checked when it is
//     dialled, so a name that resolves to another one later is no way around.
//   - robots.txt holds; requests have a pause between them; a site that is
//     overloaded says with Retry-After when to go on.
//   - The size of a page, the number of pages, the time of each request and the
//     bytes of all that is received, lists of pages and robots.txt among it, have
//     limits, and the Report says which of them were reached. Sizes are counted
//     after decompression.
//
// # The mirror
//
// The folder holds a journal, the pages, and a lock that a Fetch holds:
//
//	journal.jsonl      what is known of each page, a line of JSON each
//	pages/3f/3fa9...   the contents, as served but decompressed,
//	                   named by the SHA-256 of their bytes
//	lock
//
// The journal begins with a line that says what it is:
//
//	{"mirror":1,"url":"https://docs.test/guide/","prefix":"https://docs.test/guide/"}
//
// Then come, in the order in which they happened, the beginning of a run, what
// it found, and its end:
//
//	{"run":3,"began":"2026-01-02T03:04:05Z"}
//	{"run":3,"url":"https://docs.test/guide/a.html","type":"text/html","hash":"3fa9...","size":5120,
//	 "etag":"\"x\"","modified":"Mon, 02 Jan 2006 15:04:05 GMT","fetched":"2026-01-02T03:04:06Z"}
//	{"run":3,"url":"https://docs.test/guide/b","to":"https://docs.test/guide/b.html"}
//	{"run":3,"url":"https://docs.test/guide/c","skip":"image/png is not text"}
//	{"run":3,"ended":"2026-01-02T03:05:00Z","way":"sitemap"}
//
// A later line on a URL replaces an earlier one. A page's contents are in
// place before its line is written, so whenever a run ends, however it ends,
// what it fetched is there, and the next one goes on: it asks only for what has
// no line of the run yet. A run that comes to its end writes the journal anew,
// with what holds now, and removes contents that no line names. Until then the
// pages of the run before stay. A line that cannot be read, or that is torn, is
// passed over, and its page fetched again.
package site

import (
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

// A Way is how the pages of a site are found.
type Discovery string

const (
	ByLLMs     Discovery = "llms.txt"      // the pages that it lists
	ByLLMsFull Discovery = "llms-full.txt" // that file is the page
	BySitemap  Discovery = "sitemap"       // the pages that the sitemaps list
	ByLinks    Discovery = "links"         // from the first page on
)

// Discoveries are all of them, in the order in which they are tried.
func Discoveries() []Discovery { return []Discovery{ByLLMs, ByLLMsFull, BySitemap, ByLinks} }

// Options say what to fetch. Only URL and Dir must be given.
type Options struct {
	URL string // of the first page, or of a list of pages
	Dir string // folder of the mirror, made if it is not there

	// Prefix is what the URLs of all pages begin with. "" is the URL itself,
	// without the name of a file at its end.
	Prefix    string
	Discovery Discovery // "" is the first that finds pages

	MaxPages int   // 0 is DefaultMaxPages
	MaxBytes int64 // of all that is received and of the pages that stay; 0 is DefaultMaxBytes
	MaxPage  int64 // bytes of one page; 0 is DefaultMaxPage

	Delay       time.Duration // between requests; 0 is what is polite, negative is none
	Concurrency int           // requests at a time; 0 is 4
	Timeout     time.Duration // of one request with its answer; 0 is 30 s
	Attempts    int           // how often a page is asked for; 0 is 3
	UserAgent   string        // "" is "docsearch"; what stands before its first "/" is its name in robots.txt

	IgnoreRobots bool // do what robots.txt forbids
	Private      bool // the site's name may lead to this machine or a private network
	Queries      bool // follow links with a query, which often lead to endless views of the same

	// Refuse says why a page is not wanted, "" if it is; nil: all are. Links on
	// those that are not are not followed. path is that of the page's URL below
	// the prefix.
	Refuse func(path string) string

	// KeepLost keeps the pages that the mirror has if the site seems to have lost
	// most of them, or shows one page in the place of them: a mistake of the site
	// or a login, more often than not.
	KeepLost bool

	Progress progress.Func

	// What tests replace.
	now      func() time.Time
	sleep    func(context.Context, time.Duration) error
	resolver *net.Resolver
}

// Limits that hold unless Options say otherwise.
const (
	DefaultMaxPages = 20_000
	DefaultMaxBytes = 2 << 30
	DefaultMaxPage  = 16 << 20
)

// A Report says what became of every page that was found.
type Report struct {
	Discovery Discovery
	Found     int // pages, within the limit
	Fetched   int // new or changed
	Unchanged int
	Resumed   int // fetched before by the same run, which had been interrupted
	Redirects int
	Bytes     int64     // received, decompressed
	Removed   []string  // pages that the mirror had and the site has no more
	Lost      int       // pages that the site has no more, and that the mirror keeps (see Options.KeepLost)
	Failed    []Outcome // pages, and lists of pages, that could not be had
	Skipped   []Outcome // pages that are not wanted
	Limits    []string  // sentences on the limits that bit
	Pages     int       // in the mirror now
	Complete  bool      // the run came to its end: the next one asks for every page again
}

// An Outcome is what became of one URL.
type Outcome struct{ URL, Reason string }

// A MovedError says that a site is elsewhere than its URL says. Nothing was
// fetched from there.
type MovedError struct{ From, To string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("%s has moved to %s", e.From, e.To)
}

// A LimitError says that the limit of bytes was reached before there was a page.
type LimitError struct {
	URL   string
	Bytes int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("cannot download %s: reached the limit of %s before the first page", e.URL, size(e.Bytes))
}

// Fetch makes the mirror of a site, or brings it up to date. It asks again only
// for what may have changed. An interrupted Fetch loses nothing: the next one
// with the same URL and prefix goes on where it was.
//
// A page that cannot be had is no error: the report names it, and the mirror
// keeps what it had of it. A page that the site has no more goes. It is an error if there is no page at all. The
// report is worth reading then, too.
func Fetch(ctx context.Context, opt Options) (Report, error) {
	sc, err := newScope(opt.URL, opt.Prefix)
	if err != nil {
		return Report{}, err
	}
	if opt.Discovery != "" && !slices.Contains(Discoveries(), opt.Discovery) {
		return Report{}, fmt.Errorf("invalid discovery method %q: want one of %v", opt.Discovery, Discoveries())
	}
	opt = withDefaults(opt, sc)
	j, err := openJournal(opt.Dir, sc, opt.now())
	if err != nil {
		return Report{}, err
	}
	r := newRun(opt, sc, j)
	err = r.fetch(ctx)
	err = errors.Join(err, j.close())
	return r.finish(), err
}

func withDefaults(opt Options, sc *scope) Options {
	def := func(n *int, value int) {
		if *n <= 0 {
			*n = value
		}
	}
	def(&opt.MaxPages, DefaultMaxPages)
	def(&opt.Concurrency, 4)
	def(&opt.Attempts, 3)
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = DefaultMaxBytes
	}
	if opt.MaxPage <= 0 {
		opt.MaxPage = DefaultMaxPage
	}
	if opt.Timeout <= 0 {
		opt.Timeout = 30 * time.Second
	}
	if opt.Delay == 0 && !sc.local() {
		opt.Delay = 200 * time.Millisecond
	}
	if opt.UserAgent == "" {
		opt.UserAgent = "docsearch"
	}
	if opt.Discovery == "" {
		opt.Discovery = wayOf(sc.start)
	}
	if opt.now == nil {
		opt.now = time.Now
	}
	if opt.sleep == nil {
		opt.sleep = sleep
	}
	return opt
}

// wayOf is the way that the user's URL asks for by naming a list of pages.
func wayOf(start *url.URL) Discovery {
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
