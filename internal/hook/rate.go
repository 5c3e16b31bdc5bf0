package hook

import (
	"bytes"
	"errors"
	"io/fs"
	"strconv"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/sessionfile"
)

const (
	ratesPrefix = "docsearch-rates-"
	ratesSuffix = ".txt"
	// maxRatesFile is the maximum size of such a file in bytes. A longer one counts as empty.
	maxRatesFile = 1 << 20
)

// decideRated decides about an event. If the call does not exceed the rate of the rule that
// decided, it decides again without that rule. Without a count, no rate is exceeded: the
// rule would otherwise deny every call.
func (p *Process) decideRated(e event.Event, c *config.Config, l config.Locations, search Searcher) Decision {
	if !p.NeedsMain { // else a call that was counted must not be counted again
		p.withinRate = nil
	}
	var faults []string
	for {
		d := p.decide(e, c, l, search)
		if d.NeedsMain || d.Rule == nil || d.Rule.Rate.Calls == 0 {
			d.Faults = append(faults, d.Faults...)
			return d
		}
		n, err := 0, errors.New("the state folder is not known")
		if l.State != "" {
			n, err = Store{l.State}.countCall(e.Session, d.Rule.Name, e.Use, d.Rule.Rate, p.Now())
		}
		if err == nil && n > d.Rule.Rate.Calls {
			d.Trace = append(d.Trace, "the rule applies: more than "+d.Rule.Rate.String())
			return d
		}
		if err != nil {
			d.fault("rule %s skipped: cannot count calls: %v", d.Rule.Name, err)
		}
		faults = d.Faults
		p.withinRate = append(p.withinRate, d.Rule.Name)
	}
}

// countCall returns the number of calls that a rule has matched in its period in the
// session, including this one. It records the call unless it exceeds the rate. A session's
// file has one line per call: milliseconds since 1970, a tab, the quoted rule name, then, if
// the tool use has an ID, a tab and the quoted ID. A second copy of the hook does not
// count again.
func (s Store) countCall(session, rule, use string, rate config.Rate, now time.Time) (int, error) {
	lock, err := s.lock()
	if err != nil {
		return 0, err
	}
	defer lock.Unlock()
	path := config.Join(s.Dir, sessionfile.Name(ratesPrefix, session, ratesSuffix))
	data, err := atomicfile.Read(path, maxRatesFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		sessionfile.Clean(s.Dir, ratesPrefix, ratesSuffix, now, config.MaxRatePeriod*time.Second)
	case err != nil && !errors.Is(err, atomicfile.ErrTooLong):
		return 0, err
	}
	name := strconv.Quote(rule)
	call := name
	if use != "" {
		call += "\t" + strconv.Quote(use)
	}
	n := 1
	var kept []byte
	for line := range bytes.Lines(data) {
		stamp, rest, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"))
		ms, err := strconv.ParseInt(string(stamp), 10, 64)
		age := now.Sub(time.UnixMilli(ms))
		if err != nil || age > config.MaxRatePeriod*time.Second || age < -clockSkew {
			continue
		}
		of, _, _ := bytes.Cut(rest, []byte("\t"))
		own := string(of) == name
		if own && age >= time.Duration(rate.Seconds)*time.Second {
			continue
		}
		kept = append(kept, line...)
		switch {
		case !own:
		case use != "" && string(rest) == call:
			return min(n, rate.Calls), nil
		default:
			n++
		}
	}
	if n > rate.Calls {
		return n, nil
	}
	kept = append(strconv.AppendInt(kept, now.UnixMilli(), 10), "\t"+call+"\n"...)
	return n, atomicfile.WriteCache(path, kept, 0o600)
}
