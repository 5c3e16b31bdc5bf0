package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/client"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/site"
	"github.com/docsearch/docsearch/internal/setup"
)

func newSetupCommand(a *app) *cobra.Command {
	s := &setupCommand{app: a, page: newPage(a.stdout), builder: &buildCommand{app: a}}
	cmd := &cobra.Command{
		Use:   "setup [KEYWORD SOURCE]",
		Short: "Go from documentation to answered searches in one command",
		Long: `Setup does in one go what makes searches be answered from documentation: it
builds the database, names it in the config file, offers to install the hook and
the server, and ends with a search of its own through both.

KEYWORD is the word by which web searches name what is documented. SOURCE is
what "docsearch index build" takes: a folder or an archive of one, the URL of a
site, a git repository, a LEANN index, or a database that is there already.
Without the two it asks.

Each step is taken once: run it again after an interruption, or with other
flags, and it goes on where it was. Other entries of the config file stay as
they are, and a copy of the file is kept beside it.`,
		Example: `  docsearch setup gitlab ~/src/gitlab/doc
  docsearch setup django https://docs.djangoproject.com/en/5.2/
  docsearch setup gitlab ~/.leann/indexes/gitlab --install`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 0 && len(args) != 2 {
				return fmt.Errorf("setup takes a keyword and a source, or nothing, got %s", count(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				s.keyword, s.source = args[0], args[1]
			}
			s.builder.set = cmd.Flags().Changed
			return s.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&s.keywords, "keywords", nil, "further `words` that mean it, separated by commas (default what its titles and its project suggest)")
	f.StringSliceVar(&s.urls, "urls", nil, "`prefixes` of its pages' URLs, separated by commas (default what its pages suggest)")
	f.StringVar(&s.description, "description", "", "a few `words` on what it holds")
	f.BoolVarP(&s.yes, "yes", "y", false, "do not ask: take what is proposed, and agree to what would be asked")
	f.BoolVar(&s.install, "install", false, "install the hook and the server, if they are not, without asking")
	f.BoolVar(&s.noInstall, "no-install", false, "do not install them, nor ask")
	cmd.MarkFlagsMutuallyExclusive("install", "no-install")
	s.builder.addFlags(f)
	return cmd
}

// A setupCommand takes its steps one after another. None of them needs another's
// memory: what was done before is found where it was done.
type setupCommand struct {
	*app
	*page
	builder *buildCommand
	asker   *asker // nil: nobody is there to ask

	keyword, source string
	keywords, urls  []string // as given
	description     string
	yes             bool
	install         bool
	noInstall       bool
	locations       config.Locations
	plan            plan
	evidence        setup.Evidence
	entry           config.Database // of the config, once it is there
	done, undo      []string        // for the summary
	usesClaude      bool
}

func (s *setupCommand) run(ctx context.Context) error {
	s.locations = config.Locate(os.Getenv)
	if s.locations.Config == "" {
		return errors.New("there is no place for a config: neither DOCSEARCH_CONFIG_PATH nor a home directory is set")
	}
	if !s.yes {
		s.asker = newAsker(s.stdin, s.stderr)
	}
	s.usesClaude = usesClaude(s.app)
	for _, step := range []func(context.Context) error{
		s.choose, s.buildDatabase, s.writeEntry, s.connect, s.try,
	} {
		err := step(ctx)
		if errors.Is(err, errInterrupted) || err != nil && ctx.Err() != nil {
			return withHint(errInterrupted, "what is done stays; the same command goes on from there")
		}
		if err != nil {
			return err
		}
	}
	s.summarize()
	return nil
}

// choose finds out what to make a database of, and by which word it is meant.
func (s *setupCommand) choose(ctx context.Context) error {
	if s.source == "" {
		if err := s.askSource(ctx); err != nil {
			return err
		}
	}
	if s.keyword = strings.TrimSpace(s.keyword); s.keyword == "" {
		return usagef("a keyword must not be blank")
	}
	if clash, ok := setup.ClashOf(s.keyword); ok {
		s.warn("%v", clash)
	}
	if s.isNew(s.source) && !s.builder.set("name") {
		s.builder.name = databaseName(s.keyword)
	}
	var err error
	s.plan, err = s.builder.plan(s.source)
	if err != nil {
		return err
	}
	s.plan.known = true // it is about to be
	return s.mayRedirect(ctx)
}

// askSource asks for the source and the keyword.
func (s *setupCommand) askSource(ctx context.Context) error {
	proposed := s.proposedSource()
	if s.asker == nil && !(s.yes && proposed != "") {
		return withHint(usagef("setup asks at a terminal only; here it needs a keyword and a source"), "docsearch setup KEYWORD FOLDER|URL|INDEX")
	}
	var err error
	for s.source == "" {
		if s.source, err = s.asker.ask(ctx, "Documentation (a folder, an archive, a URL, a LEANN index)", proposed); err != nil {
			return err
		}
	}
	s.source = config.Expand(s.source, config.Home(os.Getenv)) // as a shell would have
	s.keyword, err = s.asker.ask(ctx, "Keyword that means it in a web search", proposedKeyword(s.source))
	return err
}

// proposedKeyword is what the source is called.
func proposedKeyword(source string) string {
	if ingest.CopyKind(source) != "" {
		return strings.ToLower(ingest.CopyName(source))
	}
	if isURL(source) {
		return ingest.SiteName(source)
	}
	path, err := filepath.Abs(source)
	if err != nil {
		return ""
	}
	if dir, err := index.Locate(path); err == nil {
		path = dir
	}
	word := strings.ToLower(nameFor(path))
	if slices.Contains([]string{"doc", "docs", "documentation"}, word) {
		word = strings.ToLower(filepath.Base(filepath.Dir(path)))
	}
	return word
}

// proposedSource is documentation that lies where it is likely to be: an index
// of LEANN's that the config does not name yet, or a folder of documentation in
// the working directory; "" if there is none.
func (s *setupCommand) proposedSource() string {
	all, err := listings(s.locations)
	if err != nil {
		return ""
	}
	for _, dir := range []string{".leann", filepath.Join(config.Home(os.Getenv), ".leann")} {
		found, _ := filepath.Glob(filepath.Join(dir, "indexes", "*"))
		for _, path := range found {
			abs, err := filepath.Abs(path)
			if err == nil && isDatabase(abs) && !isConfigured(all, abs) {
				return path
			}
		}
	}
	for _, dir := range []string{"docs", "doc", "documentation"} {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			return dir
		}
	}
	return ""
}

// isNew reports whether the source is one that a database is made of, and not
// one itself.
func (s *setupCommand) isNew(source string) bool {
	if isURL(source) || ingest.CopyKind(source) != "" {
		return true
	}
	if _, err := os.Stat(source); err != nil {
		return false
	}
	_, err := index.Locate(source)
	return err != nil
}

// databaseName is the name of a folder that a keyword gives a database.
func databaseName(keyword string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) {
			return '-'
		}
		return r
	}, strings.ToLower(keyword))
	return strings.Trim(name, ".-")
}

// configured is the entry of the config that is of the database, or has the
// name that a new one would have; false if there is none.
func (s *setupCommand) configured() (config.Database, bool, error) {
	r, err := load.Load(s.locations)
	if err != nil {
		return config.Database{}, false, withHint(err, "docsearch config check says more")
	}
	named := slices.IndexFunc(r.Config.Databases, func(d config.Database) bool { return strings.EqualFold(d.Name, s.keyword) })
	if named < 0 {
		named = slices.IndexFunc(r.Config.Databases, func(d config.Database) bool { return s.isOf(d) })
	}
	if named < 0 {
		return config.Database{}, false, nil
	}
	return r.Config.Databases[named], true, nil
}

// isOf reports whether the entry is of the database that is set up.
func (s *setupCommand) isOf(entry config.Database) bool {
	dir, err := index.Locate(entry.Path)
	return err == nil && samePath(dir, s.plan.dir) || samePath(entry.Path, s.plan.dir)
}

// mayRedirect makes sure that an entry of that name which is of another
// database may become one of this.
func (s *setupCommand) mayRedirect(ctx context.Context) error {
	entry, ok, err := s.configured()
	if err != nil || !ok || s.yes || s.isOf(entry) {
		return err
	}
	err = fmt.Errorf("the config has an entry %s already, of the database %s", entry.Name, entry.Path)
	if s.asker == nil {
		return withHint(err, "--yes lets it name %s instead; another keyword makes an entry beside it", s.plan.dir)
	}
	s.warn("%v", err)
	agreed, askErr := s.asker.agree(ctx, "Let it name "+s.plan.dir+" instead?", false)
	if askErr != nil || agreed {
		return askErr
	}
	return withHint(err, "another keyword makes an entry beside it")
}

// buildDatabase builds the database unless it is as it would be then.
func (s *setupCommand) buildDatabase(ctx context.Context) error {
	s.step("Build the database")
	fmt.Fprintln(s.stdout)
	if info, ok := s.built(); ok {
		fmt.Fprintf(s.stdout, "%s: %s of %s, built %s from %s\n", s.plan.label, count(info.Passages, "passage"),
			count(info.Documents, "document"), age(time.Since(info.Created)), info.Source.Location)
		if info.Source.Kind == ingest.KindSite {
			fmt.Fprintf(s.stdout, "docsearch index update %s asks the site what has changed since\n", quoteArgument(s.nameForCommands()))
		}
	} else {
		began := time.Now()
		info, err := s.builder.build(ctx, &s.plan)
		var moved *site.MovedError
		if errors.As(err, &moved) {
			return withHint(moved, "docsearch setup %s %s", quoteArgument(s.keyword), quoteArgument(moved.To))
		}
		if err != nil {
			return err
		}
		if err := s.builder.finish(s.plan, info, time.Since(began)); err != nil {
			return err
		}
	}
	s.done = append(s.done, fmt.Sprintf("the database %s in %s", s.plan.label, s.plan.dir))
	s.undo = append(s.undo, "docsearch index remove "+quoteArgument(s.nameForCommands()))
	return nil
}

// nameForCommands is how to name the database to other commands: by its name
// where that means it.
func (s *setupCommand) nameForCommands() string {
	if s.locations.Data != "" && samePath(filepath.Join(s.locations.Data, s.plan.label), s.plan.dir) {
		return s.plan.label
	}
	return s.plan.dir
}

// built reports whether the database is there, whole, built with these options
// and from what its source is now. Where only the source has changed since, the
// build will take over what has not.
func (s *setupCommand) built() (index.Info, bool) {
	info, state, _ := inspect(s.plan.dir)
	options, err := json.Marshal(s.plan.kept)
	same := err == nil && string(options) == string(info.Options)
	s.builder.update = same && info.Tool == buildVersion()
	return info, same && state == stateOK
}

// writeEntry names the database in the config.
func (s *setupCommand) writeEntry(ctx context.Context) error {
	s.step("Name it in the config")
	var err error
	if s.evidence, err = setup.Gather(s.plan.dir, s.keyword); err != nil {
		return err
	}
	old, exists, err := s.configured()
	if err != nil {
		return err
	}
	e, err := s.propose(ctx, old, exists)
	if err != nil {
		return err
	}
	change, err := client.Rewrite(s.locations.Config, "the entry "+e.Name, func(data []byte) ([]byte, error) {
		return edit.Put(s.locations.Config, data, e)
	})
	if errors.Is(err, edit.ErrByHand) {
		return withHint(err, "add it yourself: %s", exampleEntry(s.plan))
	}
	if err != nil {
		return withHint(err, "docsearch config check says more")
	}
	if err := s.applyEntry(ctx, change, e.Name); err != nil {
		return err
	}
	r, err := load.Load(s.locations)
	if err != nil {
		return err
	}
	for _, p := range r.Problems {
		s.warn("config %s: %s", r.Path, p)
	}
	i := slices.IndexFunc(r.Config.Databases, func(d config.Database) bool { return strings.EqualFold(d.Name, e.Name) })
	if i < 0 {
		return withHint(fmt.Errorf("config %s has no usable entry %s", r.Path, e.Name), "docsearch config check says why")
	}
	s.entry = r.Config.Databases[i]
	s.warnOfShared(r.Config.Databases)
	return nil
}

// warnOfShared warns of keywords that another database has as well: a search
// with one of them is looked up in both.
func (s *setupCommand) warnOfShared(all []config.Database) {
	for _, other := range all {
		for _, k := range other.Keywords {
			if other.Entry != s.entry.Entry && slices.ContainsFunc(s.entry.Keywords, func(own string) bool { return strings.EqualFold(own, k) }) {
				s.warn("%s has the keyword %q as well: searches with it are looked up in both", other.Name, k)
			}
		}
	}
}

// propose makes the entry: of what the user gave, of what is there already, and
// for a new one of what the documentation suggests. At a terminal the user has
// the last word.
func (s *setupCommand) propose(ctx context.Context, old config.Database, exists bool) (edit.Entry, error) {
	e := edit.Entry{Name: s.keyword, Keywords: s.evidence.Keywords(), Path: s.plan.dir, Description: s.evidence.Description(), URLs: s.evidence.Prefixes()}
	if exists {
		e.Name, e.Keywords, e.Description = old.Name, old.Keywords, old.Description
		if s.isOf(old) {
			e.Path = old.Path
		}
		if len(old.URLs) > 0 {
			e.URLs = old.URLs
		}
	}
	if s.builder.set("keywords") {
		e.Keywords = s.keywords
	}
	if s.builder.set("urls") {
		e.URLs = s.urls
	}
	e.Description = cmp.Or(s.description, e.Description)
	given := s.builder.set("keywords") && s.builder.set("urls") && s.description != ""
	if s.asker != nil && !exists && !given {
		fmt.Fprintln(s.stderr)
		for _, field := range []struct {
			question string
			list     *[]string
		}{
			{"Words that mean it, separated by commas", &e.Keywords},
			{"URLs of its pages begin with", &e.URLs},
		} {
			answer, err := s.asker.ask(ctx, field.question, strings.Join(*field.list, ", "))
			if err != nil {
				return e, err
			}
			*field.list = splitList(answer)
		}
		var err error
		if e.Description, err = s.asker.ask(ctx, "What it holds", e.Description); err != nil {
			return e, err
		}
	}
	if !slices.ContainsFunc(e.Keywords, func(k string) bool { return strings.EqualFold(k, s.keyword) }) {
		e.Keywords = append([]string{s.keyword}, e.Keywords...)
	}
	return e, nil
}

func splitList(s string) []string {
	var list []string
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// applyEntry shows the change of the config and makes it.
func (s *setupCommand) applyEntry(ctx context.Context, change *client.Change, name string) error {
	path := change.Path
	if change.None() {
		fmt.Fprintf(s.stdout, "\n%s has the entry %s already\n", path, name)
		s.done = append(s.done, fmt.Sprintf("the entry %s of %s", name, path))
		s.undo = append(s.undo, fmt.Sprintf("take the entry %s out of %s", name, path))
		return nil
	}
	s.say(path + ":")
	s.diff(change.Diff())
	agreed, err := s.asker.agree(ctx, "Write it to "+path+"?", true)
	if err != nil {
		return err
	}
	if !agreed {
		return withHint(errors.New("the config is as it was"), "the database is built; docsearch setup %s %s names it another time", quoteArgument(s.keyword), quoteArgument(s.source))
	}
	_, statErr := os.Lstat(path)
	fmt.Fprintln(s.stdout)
	backup, err := change.Apply()
	if err != nil {
		return fmt.Errorf("put %s into %s: %w", change.What, path, err)
	}
	fmt.Fprintf(s.stdout, "put %s into %s\n", change.What, path)
	s.done = append(s.done, fmt.Sprintf("the entry %s of %s", name, path))
	switch {
	case backup != "":
		fmt.Fprintf(s.stdout, "  the file as it was: %s\n", backup)
		s.undo = append(s.undo, fmt.Sprintf("mv %s %s", quoteArgument(backup), quoteArgument(path)))
	case statErr != nil:
		s.undo = append(s.undo, "rm "+quoteArgument(path))
	default:
		s.undo = append(s.undo, fmt.Sprintf("take the entry %s out of %s", name, path))
	}
	return nil
}

// connect installs the hook and the server where they are not, if the user
// wants it.
func (s *setupCommand) connect(ctx context.Context) error {
	s.step("Connect Claude Code")
	fmt.Fprintln(s.stdout)
	claude, err := s.claude()
	if err != nil {
		return err
	}
	if path := claude.HooksDisabled(); path != "" {
		s.warn("%s switches all hooks off: take \"disableAllHooks\" out of it", path)
	}
	where, err := installedWhere(claude)
	switch {
	case err != nil:
		s.warn("%v; repair the file, then run docsearch install", err)
		return nil
	case where != "":
		fmt.Fprintf(s.stdout, "the hook and the MCP server are installed: %s\n", where)
		return nil
	}
	wanted, err := s.wantsInstall(ctx)
	if err != nil {
		return err
	}
	if !wanted {
		fmt.Fprintln(s.stdout, "not installed; docsearch install does it any time")
		return nil
	}
	program, err := s.programFor(client.User)
	if err != nil {
		s.warn("not installed: %v", err)
		return nil
	}
	changes, err := claude.Install(client.User, program)
	if err != nil {
		return err
	}
	if err := s.applyPlan(changes, "put %s into %s"); err != nil {
		return err
	}
	fmt.Fprintln(s.stdout, "sessions that start from now on have it")
	s.done = append(s.done, "the hook and the MCP server in Claude Code's settings")
	s.undo = append(s.undo, "docsearch uninstall")
	return nil
}

// installedWhere says where Claude Code has both the hook and the server from;
// "" if it lacks one of them, or the program that they name is gone.
func installedWhere(claude *client.Claude) (string, error) {
	plugin, err := claude.Plugin()
	if err != nil || plugin != "" {
		return plugin, err
	}
	hooks, servers, err := claude.Installed()
	if err != nil || len(servers) == 0 {
		return "", err
	}
	for _, tool := range claude.Watched() {
		if !client.Heard(hooks, tool) {
			return "", nil
		}
	}
	var programs []string
	for _, h := range hooks {
		programs = append(programs, h.Program)
	}
	for _, server := range servers {
		programs = append(programs, server.Command)
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return "", nil
		}
	}
	return strings.Join(pathsOf(hooks), ", "), nil
}

func (s *setupCommand) wantsInstall(ctx context.Context) (bool, error) {
	switch {
	case s.install:
		return true, nil
	case s.noInstall:
		return false, nil
	case s.asker == nil:
		return s.yes && s.usesClaude, nil
	}
	return s.asker.agree(ctx, "Put the hook and the MCP server into Claude Code's settings?", s.usesClaude)
}

// usesClaude reports whether the user has Claude Code.
func usesClaude(a *app) bool {
	if _, err := exec.LookPath("claude"); err == nil {
		return true
	}
	claude, err := a.claude()
	if err != nil {
		return false
	}
	for _, path := range []string{claude.Settings(client.User), claude.Servers(client.User)} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// try sends a search of its own through the hook and the server.
func (s *setupCommand) try(ctx context.Context) error {
	s.step("Try it")
	query, sure, err := s.evidence.Question(ctx, s.plan.dir, s.entry.Keyword(), append([]string{s.entry.Name}, s.entry.Keywords...))
	if err != nil {
		return err
	}
	s.webSearch(query)
	o, err := s.runHook(ctx, query)
	if err != nil {
		return withHint(fmt.Errorf("run the hook: %w", err), "docsearch doctor follows the chain")
	}
	took := o.Took.Round(time.Millisecond)
	switch {
	case o.Decision == "deny":
		s.say(fmt.Sprintf("The hook denies it in %s, with the answer:", took))
		s.quote(o.Reason, 10)
	case s.entry.Mode == config.ModeOff || s.entry.Mode == config.ModeAdvise:
		s.say(fmt.Sprintf("The hook lets it through in %s: the mode of %s is %q.", took, s.entry.Name, s.entry.Mode))
	case o.Stderr != "":
		return withHint(fmt.Errorf("the hook let it through: %s", firstLine(o.Stderr)), "docsearch doctor follows the chain")
	case sure:
		return withHint(errors.New("the hook let it through, and the database has an answer"), "DOCSEARCH_DEBUG=1 docsearch hook tells each step of its decision")
	default:
		s.say(fmt.Sprintf("The hook lets it through in %s: the database is not sure enough of any of its headings to answer in the web's place. The agent can ask it all the same:", took))
	}
	return s.ask(ctx, query)
}

func (s *setupCommand) runHook(ctx context.Context, query string) (client.Outcome, error) {
	state, err := os.MkdirTemp("", "docsearch-setup-")
	if err != nil {
		return client.Outcome{}, err
	}
	defer os.RemoveAll(state)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, err := s.docsearch(ctx, "hook")
	if err != nil {
		return client.Outcome{}, err
	}
	cmd.Env = append(os.Environ(), "DOCSEARCH_STATE_DIR="+state)
	return client.RunHook(cmd, map[string]any{
		"session_id": "setup", "hook_event_name": "PreToolUse", "tool_name": "WebSearch",
		"tool_input": map[string]string{"query": query},
	})
}

// ask asks the server the same question.
func (s *setupCommand) ask(ctx context.Context, query string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, err := s.docsearch(ctx, "serve")
	if err != nil {
		return err
	}
	session, err := client.StartServer(ctx, func(context.Context) *exec.Cmd { return cmd })
	if err != nil {
		return withHint(fmt.Errorf("start the MCP server: %w", err), "docsearch doctor follows the chain")
	}
	defer session.Close()
	start := time.Now()
	answer, err := session.Call(ctx, "search", map[string]any{"query": query, "database": s.entry.Name, "top_k": 3})
	if err != nil {
		return err
	}
	s.say(fmt.Sprintf("The server's search tool finds in %s:", time.Since(start).Round(time.Millisecond)))
	s.quote(answer, 12)
	return nil
}

// docsearch is this program with other arguments.
func (s *setupCommand) docsearch(ctx context.Context, args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Args[0] = "docsearch"
	return cmd, nil
}

// summarize says what there is now, and how to be rid of it.
func (s *setupCommand) summarize() {
	s.title("Done")
	fmt.Fprintln(s.stdout)
	for _, what := range s.done {
		fmt.Fprintln(s.stdout, what)
	}
	fmt.Fprintln(s.stdout, "\nto undo it:")
	for _, how := range slices.Backward(s.undo) {
		fmt.Fprintf(s.stdout, "  %s\n", how)
	}
	if s.entry.Tool != "" {
		fmt.Fprintf(s.stdout, "\ndenials point at %s; without \"mcp_tool_name\" in its entry they would at docsearch's own tool\n", s.entry.Tool)
	}
}
