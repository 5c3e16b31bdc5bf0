package lexical

import (
	"slices"
	"strings"
)

// A foreignTopic has the words that ask for a topic in ten languages other than English: German,
// French, Spanish, Portuguese, Italian, Polish, Russian, Japanese, Chinese and Korean. They are
// folded. A space at the beginning is the beginning of a word, one at the end the end of one:
// other endings are inflections. East Asian words have no spaces around them.
type foreignTopic struct {
	topic Topic
	words []string
}

var foreignTopics = [...]foreignTopic{
	{Price, []string{
		" preis", " kosten ", " kostet ", " prix ", " tarif ", " tarifs ", " combien coûte", " precio ", " precios ",
		" cuánto cuesta", " preço", " quanto custa", " prezzo ", " prezzi ", " quanto costa",
		" cena ", " ceny ", " cennik", " ile kosztuje", " цена", " цены", " цену", " стоимост", " сколько стоит", "価格",
		"料金", "値段", "价格", "多少钱", "收费", "가격", "요금",
	}},
	{License, []string{" lizenz", " licencia", " licença", " licenza", " licenze", " licencj", " лицензи", "ライセンス",
		"许可证", "授权协议", "라이선스"}},
	{Jobs, []string{
		" stellenangebot", " gehalt ", " gehälter", " offre d'emploi", " offres d'emploi", " salaire", " empleo ",
		" sueldo", " salario", " vagas ", " emprego", " salário", " offerta di lavoro", " offerte di lavoro",
		" stipendio", " oferta pracy", " oferty pracy", " zarobki", " ваканси", " зарплат", "求人", "年収", "招聘", "薪资",
		"工资", "채용", "연봉",
	}},
	{News, []string{
		" neuigkeit", " veröffentlichungstermin", " erscheinungsdatum", " actualités", " date de sortie", " noticias ",
		" fecha de lanzamiento", " notícias", " data de lançamento", " notizie", " data di rilascio",
		" aktualności", " data wydania", " новост", " дата выхода", "ニュース", "リリース日", "新闻", "发布日期", "뉴스", "출시일",
	}},
	{Roadmap, []string{" fahrplan", " feuille de route", " hoja de ruta", " дорожная карта", "ロードマップ", "路线图", "로드맵"}},
	{Vulnerability, []string{" sicherheitslücke", " schwachstelle", " vulnérabilité", " faille de sécurité",
		" failles de sécurité", " vulnerabilidad", " vulnerabilità", " podatnoś", " уязвимост", "脆弱性", "漏洞", "취약점"}},
	{Comparison, []string{
		" vergleich ", " alternativen ", " alternative zu ", " besser als ", " comparaison", " comparatif",
		" mieux que ", " comparación", " comparativa", " alternativa", " mejor que ", " comparação", " melhor que ",
		" confronto ",
		" meglio di ", " porównanie", " alternatyw", " сравнение", " альтернатив", " лучше чем ", "比較", "代替", "比较",
		"对比", "替代", "비교", "대안",
	}},
	{Advice, []string{" kaufberatung", "おすすめ", "ランキング", "哪个好", "哪个最好", "추천"}},
}

// foreignNewest are words that ask for the newest version, unless one of foreignTasks is in the
// query: who installs or updates software wants its newest version, too.
var (
	foreignNewest = [...]string{
		" neueste version", " neuesten version", " aktuelle version", " dernière version", " última versión",
		" última versão", " versão mais recente", " ultima versione", " najnowsza wersja", " последняя версия",
		"最新バージョン", "最新版", "최신 버전",
	}
	foreignTasks = [...]string{
		" instal", " aktualisier", " mettre à jour", " actualizar", " atualizar", " aggiorna", " zaktualizować",
		" установ", " обнов", "インストール", "アップデート", "アップグレード", "安装", "更新", "升级", "설치", "업데이트",
	}
)

// foreignTopicOf returns the topic that the words of a query ask for in a language other than
// English. Software is compared if other software is named, or next to one of the names.
func foreignTopicOf(words []framedWord, names []string) Topic {
	text := joined(words)
	software := slices.ContainsFunc(words,
		func(w framedWord) bool { return isTechnology(w.folded) && !isAnyName(w.folded, names) })
	for _, f := range foreignTopics {
		word, found := f.in(text)
		if found && (f.topic != Comparison || software || isNextToName(text, word, names)) {
			return f.topic
		}
	}
	has := func(word string) bool { return strings.Contains(text, word) }
	if slices.ContainsFunc(foreignNewest[:], has) && !slices.ContainsFunc(foreignTasks[:], has) {
		return News
	}
	return NoTopic
}

// joined returns folded words with a space around each.
func joined(words []framedWord) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteByte(' ')
		b.WriteString(w.folded)
	}
	b.WriteByte(' ')
	return b.String()
}

// in returns the first word of the topic in a text with spaces around its words.
func (f *foreignTopic) in(text string) (word string, found bool) {
	for _, word := range f.words {
		if strings.Contains(text, word) {
			return word, true
		}
	}
	return "", false
}

// isNextToName reports whether a word in a text is next to one of the names.
func isNextToName(text, word string, names []string) bool {
	before, after, _ := strings.Cut(text, word)
	return slices.ContainsFunc(names, func(name string) bool {
		name = string(fold(nil, name))
		return strings.HasSuffix(strings.TrimRight(before, " "), " "+name) ||
			strings.HasPrefix(strings.TrimLeft(after, " "), name+" ")
	})
}

// isInForeign reports whether a word of a heading, in lower case, shows in a language other than
// English that a page is about the topic.
func (t Topic) isInForeign(word string) bool {
	for _, f := range foreignTopics {
		if _, found := f.in(" " + word + " "); found && f.topic == t {
			return true
		}
	}
	return false
}
