package lexical

import "testing"

func TestLanguageOf(t *testing.T) {
	for text, want := range map[string]string{
		"To descale the kettle, fill it with vinegar and wait for an hour.":                                 English,
		"Um den Kessel zu entkalken, wird er mit Essig gefüllt, und nach einer Stunde ist er sauber.":       "German",
		"Pour détartrer la bouilloire, il faut la remplir de vinaigre et attendre une heure dans le calme.": "French",
		"Para descalcificar el hervidor, llénelo con vinagre y espere una hora en la cocina.":               "Spanish",
		"Para limpar a chaleira, você pode usar vinagre e esperar uma hora, mas não mais.":                  "Portuguese",
		"Per pulire il bollitore, lo si riempie di aceto e si aspetta un'ora, non di più.":                  "Italian",
		"Aby odkamienić czajnik, nie jest konieczne nic oprócz octu, który może zostać na godzinę.":         "Polish",
		"Чтобы удалить накипь, наполните чайник уксусом и подождите час.":                                   "Russian",
		"ケトルの水垢を取るには、酢を入れて一時間待ちます。":                                                                         "Japanese",
		"要清除水壶里的水垢，请倒入醋并等待一个小时。":                                                                            "Chinese",
		"주전자의 물때를 제거하려면 식초를 넣고 한 시간 기다리세요.":                                                                 "Korean",
		// Names of commands are in Latin script, and code is in no language.
		"使用 kettle descale --time 60 清除水壶里的水垢，然后 kettle rinse 两次。": "Chinese",
		"```\nder die das und ist nicht\n```\nVinegar kettle.":     "",
		"`der` `und` kettle.descale(minutes)":                      "",
		"kettle descale":                                           "",
		"":                                                         "",
	} {
		if got := LanguageOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestIsForeign(t *testing.T) {
	for _, tt := range []struct {
		query   string
		unknown int
		want    bool
	}{
		{"how do I descale the kettle", 0, false},
		{"how do I descale the kettle zzq", 1, false},
		{"kettle descale error E42", 2, false},
		{"pandas read_csv on_bad_lines", 0, false},
		{"wie kann ich den Kessel entkalken und wie oft", 0, true},
		{"как удалить накипь в kettle", 0, true},
		{"kettle 除垢 方法", 0, true},
		{"kettle_descale für Wasser", 1, true}, // one function word, one unknown word
		{"php die function", 0, false},         // a name that is a function word elsewhere
		{"ls -la -un zzq", 1, false},           // options
		{"kettle DES zzq in an ES module", 2, false},
		{"kettle zzq limit per hour", 1, false},
	} {
		if got := IsForeign(tt.query, tt.unknown); got != tt.want {
			t.Errorf("%q with %d unknown words: %t, want %t", tt.query, tt.unknown, got, tt.want)
		}
	}
}
