package manage

import (
	"encoding/json"
	"net/http"

	"github.com/docsearch/docsearch/internal/web"
	"github.com/docsearch/docsearch/internal/web/job"
)

// Settings are the settings of this machine.
type Settings struct {
	File       string // of the config
	Exists     bool
	LogQueries bool // the event log keeps queries
	Folders    []Folder
	Problems   []string // in the config
}

// A Folder is a folder of docsearch's files.
type Folder struct{ Name, Path string }

// A Status is the result of a check.
type Status string

const (
	CheckOK     Status = "ok"
	CheckNote   Status = "note"
	CheckFailed Status = "failed"
)

// A Check is the result of one check of "docsearch doctor", which prints it as JSON.
type Check struct {
	Status Status `json:"status"`
	Name   string `json:"check"`
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // a command or an instruction
}

// parseCheck parses a line of "docsearch doctor --json".
func parseCheck(line string) (Check, bool) {
	var c Check
	if err := json.Unmarshal([]byte(line), &c); err != nil {
		return c, false
	}
	switch c.Status {
	case CheckOK, CheckNote, CheckFailed:
		return c, c.Name != ""
	}
	return c, false
}

// doctorSubject is the subject of the jobs that run the doctor.
const doctorSubject = "doctor"

// A settingsView is the data of settings.html.
type settingsView struct {
	*Settings
	Doctor *jobView // last run; nil: none
	Failed int      // checks
}

func (p *Pages) settingsPage(*http.Request) (*content, error) {
	settings, err := p.Machine.Settings()
	if err != nil {
		return nil, err
	}
	v := settingsView{Settings: settings}
	for _, j := range p.jobs.Jobs() { // the latest first
		if j.Subject != doctorSubject {
			continue
		}
		view := newJobView(j)
		for _, c := range view.Checks {
			if c.Status == CheckFailed {
				v.Failed++
			}
		}
		if v.Failed > 0 && view.State == job.Failed {
			view.Problem = "" // the exit code, which the failed checks explain
		}
		v.Doctor = &view
		break
	}
	return &content{web.Page{Title: "Settings"}, "settings.html", v}, nil
}

func (p *Pages) runDoctor(w http.ResponseWriter, r *http.Request) {
	if _, ok := p.form(w, r, "/settings"); ok {
		p.startJob(w, r, "/settings", "run the doctor", doctorSubject, "doctor", "--json")
	}
}

func (p *Pages) setLogQueries(w http.ResponseWriter, r *http.Request) {
	form, ok := p.form(w, r, "/settings")
	if !ok {
		return
	}
	if err := p.Machine.SetLogQueries(form.Get("log_queries") == "1"); err != nil {
		p.fail(w, r, "/settings", http.StatusInternalServerError, err)
		return
	}
	p.site.Redirect(w, r, "/settings#privacy")
}
