package lexical

// Stop words are in switch statements, which compile to a binary search and need no
// initialization at startup. The words are folded but keep their accents.

// stopEnglish reports whether a word is an English stop word, which is not indexed.
func stopEnglish(w string) bool {
	switch w {
	case "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
		"of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will",
		"with":
		return true
	}
	return false
}

// questionEnglish reports whether a word only phrases a question and is not searched.
func questionEnglish(w string) bool {
	switch w {
	case "how", "what", "why", "when", "where", "which", "who", "whose", "whom",
		"do", "does", "did", "doing", "done", "don", "doesn", "didn", "isn", "aren", "wasn", "won", "wouldn", "couldn",
		"shouldn",
		"can", "cannot", "could", "should", "would", "may", "might", "must", "shall",
		"i", "me", "my", "mine", "myself", "we", "us", "our", "you", "your", "yours", "he", "she", "him", "his", "her",
		"its", "them",
		"am", "been", "being", "has", "have", "having", "had", "were",
		"want", "wants", "need", "needs", "needed", "try", "trying", "tried", "wish",
		"use", "used", "using", "way", "ways", "best", "proper", "properly", "correct", "correctly", "easiest",
		"easily", "simple", "simplest",
		"get", "getting", "make", "makes", "making", "let", "possible", "able",
		"some", "any", "anything", "something", "someone", "thing", "things", "so", "than", "too", "very", "just",
		"only", "also",
		"from", "about", "between", "through", "please", "there", "here", "vs", "s", "t", "m", "re", "ve", "ll", "d",
		"mean", "means", "work", "works", "difference", "different":
		return true
	}
	return false
}

func stopGerman(w string) bool {
	switch w {
	case "aber", "als", "am", "an", "auch", "auf", "aus", "bei", "bis", "da", "das", "dass", "daß", "dem", "den", "der",
		"des", "die",
		"ein", "eine", "einem", "einen", "einer", "eines", "er", "es", "für", "im", "in", "ist", "mit", "nach", "noch",
		"nur", "oder",
		"sich", "sie", "sind", "so", "über", "um", "und", "von", "vom", "vor", "war", "wird", "werden", "zu", "zum",
		"zur":
		return true
	}
	return false
}

func questionGerman(w string) bool {
	switch w {
	case "wie", "was", "warum", "wieso", "weshalb", "wann", "wo", "wohin", "woher", "wer", "wen", "wem", "welche",
		"welcher", "welches", "welchen",
		"ich", "mir", "mich", "mein", "meine", "meinen", "meinem", "meiner", "du", "wir", "uns", "man", "ihr",
		"kann", "können", "könnte", "muss", "müssen", "soll", "sollte", "will", "möchte", "darf", "gibt", "geht",
		"mache", "machen", "macht",
		"habe", "haben", "hat", "bin", "nutzen", "verwende", "verwenden", "benutze", "benutzen", "brauche", "bitte",
		"denn", "eigentlich",
		"beste", "besten", "richtig", "einfach", "möglich", "unterschied", "zwischen", "etwas", "alle", "dieser",
		"diese", "dieses":
		return true
	}
	return false
}

func stopFrench(w string) bool {
	switch w {
	case "à", "au", "aux", "avec", "c", "ce", "ces", "cet", "cette", "d", "dans", "de", "des", "du", "elle", "en",
		"est", "et", "il", "ils",
		"j", "l", "la", "le", "les", "leur", "lui", "m", "mais", "n", "ne", "ou", "par", "pas", "pour", "qu", "que",
		"qui", "s", "sa", "se", "ses",
		"son", "sont", "sur", "t", "un", "une", "y":
		return true
	}
	return false
}

func questionFrench(w string) bool {
	switch w {
	case "comment", "pourquoi", "quand", "où", "quoi", "quel", "quelle", "quels", "quelles", "combien", "dont",
		"je", "me", "moi", "mon", "ma", "mes", "tu", "te", "ton", "ta", "tes", "nous", "notre", "nos", "vous", "votre",
		"vos", "on",
		"peut", "peux", "puis", "pouvez", "pourrait", "dois", "doit", "faut", "veux", "voudrais", "faire", "fait",
		"fais",
		"ai", "as", "a", "avons", "avez", "ont", "être", "suis", "es", "avoir", "utiliser", "utilise", "besoin",
		"meilleur", "meilleure", "façon", "manière", "moyen", "possible", "différence", "entre", "plus", "très",
		"aussi", "tout", "tous", "svp":
		return true
	}
	return false
}

func stopSpanish(w string) bool {
	switch w {
	case "a", "al", "con", "de", "del", "el", "ella", "en", "entre", "es", "esta", "este", "esto", "fue", "ha", "la",
		"las", "le", "lo", "los",
		"más", "no", "o", "para", "pero", "por", "que", "se", "ser", "si", "sin", "sobre", "son", "su", "sus", "un",
		"una", "y", "e", "u":
		return true
	}
	return false
}

func questionSpanish(w string) bool {
	switch w {
	case "cómo", "como", "qué", "cuál", "cuáles", "cuándo", "dónde", "donde", "quién", "cuánto", "porqué",
		"yo", "me", "mi", "mis", "mí", "tú", "tu", "tus", "te", "nosotros", "nos", "usted", "puedo", "puede", "pueden",
		"podría", "debo", "debe",
		"quiero", "quisiera", "necesito", "hacer", "hago", "hace", "hay", "tengo", "tiene", "tener", "usar", "uso",
		"utilizar", "he", "está", "estoy",
		"mejor", "forma", "manera", "posible", "diferencia", "muy", "también", "todo", "todos", "algo", "favor":
		return true
	}
	return false
}

func stopPortuguese(w string) bool {
	switch w {
	case "a", "ao", "aos", "as", "às", "à", "com", "da", "das", "de", "do", "dos", "e", "é", "ela", "ele", "em",
		"entre", "era", "essa", "esse",
		"esta", "este", "foi", "mais", "mas", "na", "nas", "no", "nos", "não", "o", "os", "ou", "para", "pela", "pelo",
		"por", "que", "se", "sem",
		"ser", "seu", "sua", "são", "um", "uma":
		return true
	}
	return false
}

func questionPortuguese(w string) bool {
	switch w {
	case "como", "qual", "quais", "quando", "onde", "quem", "quanto", "porque", "porquê",
		"eu", "me", "mim", "meu", "minha", "meus", "minhas", "tu", "teu", "você", "nós", "nosso", "posso", "pode",
		"podem", "poderia", "devo", "deve",
		"quero", "queria", "preciso", "fazer", "faço", "faz", "há", "tenho", "tem", "ter", "usar", "uso", "utilizar",
		"está", "estou",
		"melhor", "forma", "maneira", "jeito", "possível", "diferença", "muito", "também", "tudo", "todos", "algo",
		"favor":
		return true
	}
	return false
}

func stopItalian(w string) bool {
	switch w {
	case "a", "ad", "al", "alla", "alle", "allo", "ai", "agli", "che", "ci", "con", "da", "dal", "dalla", "dai",
		"dalle", "d", "dei", "degli", "del", "della", "delle", "dello",
		"di", "e", "ed", "è", "era", "gli", "i", "il", "in", "l", "la", "le", "lo", "ma", "ne", "nei", "nel", "nella",
		"nelle", "non", "o", "per", "più", "se", "si", "sia", "sono",
		"su", "sul", "sulla", "sulle", "sui", "tra", "fra", "un", "una", "uno":
		return true
	}
	return false
}

func questionItalian(w string) bool {
	switch w {
	case "come", "cosa", "perché", "quando", "dove", "quale", "quali", "chi", "quanto", "quanti",
		"io", "mi", "me", "mio", "mia", "miei", "tu", "ti", "tuo", "noi", "ci", "nostro", "voi", "posso", "può",
		"possono", "potrei", "devo", "deve", "bisogna",
		"voglio", "vorrei", "serve", "fare", "faccio", "fa", "ho", "ha", "hanno", "avere", "essere", "usare", "uso",
		"utilizzare", "sto", "sta",
		"migliore", "modo", "maniera", "possibile", "differenza", "molto", "anche", "tutto", "tutti", "qualcosa",
		"favore":
		return true
	}
	return false
}

func stopRussian(w string) bool {
	switch w {
	case "а", "без", "бы", "был", "была", "были", "было", "в", "во", "вот", "для", "до", "его", "ее", "её", "если",
		"же", "за", "и", "из", "или",
		"им", "их", "к", "ко", "на", "не", "но", "о", "об", "он", "она", "они", "оно", "от", "по", "под", "при", "с",
		"со", "так", "то", "у", "что", "это":
		return true
	}
	return false
}

func questionRussian(w string) bool {
	switch w {
	case "как", "какой", "какая", "какие", "какое", "почему", "зачем", "когда", "где", "куда", "кто", "чем", "чего",
		"сколько", "ли",
		"я", "мне", "меня", "мой", "моя", "мое", "моё", "мои", "мы", "нас", "нам", "ты", "вы", "вам", "ваш", "можно",
		"могу", "может", "нужно", "надо",
		"нужен", "должен", "хочу", "хотел", "сделать", "делать", "делаю", "есть", "быть", "использовать", "лучше",
		"лучший", "способ", "правильно",
		"возможно", "разница", "между", "также", "все", "всё", "этот", "эта", "эти", "пожалуйста":
		return true
	}
	return false
}
