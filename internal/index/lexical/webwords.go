package lexical

// A webWord classifies words that ask for contents of the web that documentation lacks.
type webWord uint8

const (
	documented  webWord = iota // documentation may answer it
	newsWord                   // news, dates, prices, jobs, security advisories
	opinionWord                // opinions, recommendations, comparisons
)

// webWordOf classifies a folded word of a query; before is the previous word.
func webWordOf(before, w string) webWord {
	switch before + " " + w {
	case "release date", "release dates", "release schedule", "release calendar", "of life", "of support",
		"of maintenance", "status page", "this week", "this month", "this year", "last week", "last month",
		"last year", "coming soon", "market share", "job market", "support ends", "support until", "stop getting",
		"security advisory", "security advisories", "security release",
		"security releases", "security notice", "hourly rate", "per month", "per hour", "stock price", "who created",
		"who maintains", "who founded", "latest version", "latest release",
		"newest version", "current version", "stable release", "final release", "new release", "windows installer":
		return newsWord
	case "worth it", "should i", "should we", "should a", "pros and", "for beginners", "faster than", "slower than",
		"better than", "people think", "people do", "people use", "you use",
		"so hated", "still relevant", "still worth", "is dead", "is dying", "why is", "why do":
		return opinionWord
	}
	if len(w) > 4 && (w[:4] == "cve-" || w[:5] == "ghsa-") {
		return newsWord
	}
	switch w {
	case "cve", "cves", "ghsa", "eol", "roadmap", "news", "announcement", "announced", "announces", "outage", "outages",
		"downtime", "pricing", "price", "prices", "fee", "fees", "licensing",
		"salary", "salaries", "job", "jobs", "hiring", "hire", "interview", "conference", "meetup", "summit", "keynote",
		"speakers", "tickets", "hackathon", "upcoming", "popularity",
		"tiobe", "survey", "layoffs", "ceo", "founder", "funding", "ipo", "acquisition", "acquired", "sponsorship",
		"controversy", "lawsuit", "vulnerability", "vulnerabilities", "advisory",
		"exploit", "patched", "newest", "nightly", "retires", "retired", "weekly", "monthly", "rumor", "released",
		"today", "yesterday", "tomorrow", "tonight", "statistics", "trend", "trends", "incident", "incidents", "leak",
		"leaked", "developer", "developers", "freelance", "companies":
		return newsWord
	case "best", "better", "worst", "alternative", "alternatives", "vs", "versus", "compare", "compared", "comparison",
		"comparing", "pros", "cons", "worth", "review", "reviews",
		"recommend", "recommended", "recommendation", "recommendations", "opinion", "opinions", "popular", "favorite",
		"favourite", "prefer", "dead", "dying", "obsolete", "overrated",
		"hate", "hated", "love", "benchmark", "benchmarks", "course", "courses", "book", "books", "bootcamp",
		"certification", "video", "videos", "youtube", "podcast", "learn", "learning",
		"career", "ide", "top", "should", "roundup", "switch", "switching", "migrating", "instead", "people",
		"beginners", "reddit", "hackernews", "quora", "cheaper", "faster", "free":
		return opinionWord
	}
	return documented
}
