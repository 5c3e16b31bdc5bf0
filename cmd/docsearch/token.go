package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/httpserver/accesstoken"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
)

func newTokenCommand(a *app) *cobra.Command {
	var file string
	cmd := group(&cobra.Command{
		Use:   "token",
		Short: "Make, list, and revoke tokens for the HTTP server",
		Long: `Make, list, and revoke the tokens that docsearch serve --http accepts. The file of
tokens contains only their hashes. A running server notices every change.`,
	})
	cmd.PersistentFlags().StringVar(&file, "file", "",
		"use the tokens in `FILE` (default: .tokens.json in the data folder)")
	tokens := func() (*accesstoken.File, error) {
		path := tokensPath(file)
		if path == "" {
			return nil, withHint(errors.New("cannot find a place for the tokens: the home directory is not set"),
				"pass --file FILE")
		}
		return accesstoken.Open(path), nil
	}
	cmd.AddCommand(newTokenNewCommand(a, tokens), newTokenListCommand(a, tokens), newTokenRevokeCommand(a, tokens))
	return cmd
}

func newTokenNewCommand(a *app, tokens func() (*accesstoken.File, error)) *cobra.Command {
	var databases []string
	var metrics bool
	var expires string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Make a token and print it once",
		Long: `Make a token and print it. It is stored nowhere, so it cannot be printed again.

Without --db, the token permits reading all databases.`,
		Example: `  docsearch token new ci --db gitlab --db handbook --expires 90d
  docsearch token new amy@laptop
  docsearch token new prometheus --metrics`,
		Args: oneArgument("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			var scopes accesstoken.Scopes
			for _, db := range databases {
				scopes = append(scopes, accesstoken.ReadScope(db))
			}
			switch {
			case metrics:
				scopes = append(scopes, accesstoken.ScopeMetrics)
			case len(databases) == 0:
				scopes = accesstoken.Scopes{accesstoken.ScopeRead}
			}
			now, end := time.Now(), time.Time{}
			if expires != "" {
				d, err := parseDays(expires)
				if err != nil {
					return usagef("invalid --expires %q: want a number with a unit, such as 90d or 12h", expires)
				}
				end = now.Add(d)
			}
			f, err := tokens()
			if err != nil {
				return err
			}
			text, err := f.New(args[0], scopes, now, end)
			if errors.Is(err, accesstoken.ErrExists) {
				return withHint(err, "run docsearch token revoke %s first, or use another name", quoteArgument(args[0]))
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, text)
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&databases, "db", nil, "permit reading only the database `NAME` (repeatable; default: all)")
	f.BoolVar(&metrics, "metrics", false, "permit reading the metrics; without --db, permit nothing else")
	f.StringVar(&expires, "expires", "", "refuse the token after `DURATION`, for example 90d (default: never)")
	return cmd
}

// parseDays parses a duration, which may be in days.
func parseDays(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 || n > 36_500 {
			return 0, errors.New("not a number of days")
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d <= 0 {
		err = errors.New("not positive")
	}
	return d, err
}

func newTokenListCommand(a *app, tokens func() (*accesstoken.File, error)) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "list",
		Short: "List tokens with their permissions",
		Args:  noArguments,
	}, func(_ *cobra.Command, _ []string, asJSON bool) error {
		f, err := tokens()
		if err != nil {
			return err
		}
		list, err := f.List()
		if err != nil {
			return err
		}
		if asJSON {
			return a.printTokensJSON(list)
		}
		if len(list) == 0 {
			fmt.Fprintln(a.stdout, "no tokens; to make one, run: docsearch token new NAME")
			return nil
		}
		table := terminal.NewTable(a.stdout, "NAME\tPERMITS\tCREATED\tEXPIRES")
		now := time.Now()
		for _, t := range list {
			end := "never"
			if !t.Expires.IsZero() {
				end = t.Expires.Local().Format("2006-01-02 15:04")
			}
			if t.Expired(now) {
				end = "expired"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", t.Name, strings.Join(t.Scopes, ", "),
				t.Created.Local().Format("2006-01-02 15:04"), end)
		}
		return table.Flush()
	})
}

// printTokensJSON prints the tokens without their hashes.
func (a *app) printTokensJSON(list []accesstoken.Token) error {
	type tokenJSON struct {
		Name    string    `json:"name"`
		Scopes  []string  `json:"scopes"`
		Created time.Time `json:"created"`
		Expires time.Time `json:"expires,omitzero"`
	}
	all := []tokenJSON{}
	for _, t := range list {
		all = append(all, tokenJSON{t.Name, t.Scopes, t.Created, t.Expires})
	}
	return a.printEscapedJSON(all)
}

func newTokenRevokeCommand(a *app, tokens func() (*accesstoken.File, error)) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke a token at once",
		Args:  oneArgument("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := tokens()
			if err != nil {
				return err
			}
			err = f.Revoke(args[0])
			if errors.Is(err, accesstoken.ErrNotFound) {
				return withHint(err, "run docsearch token list to list the tokens")
			}
			if err == nil {
				fmt.Fprintf(a.stdout, "revoked %s\n", args[0])
			}
			return err
		},
	}
}
