package dense

func products(out []int32, codes []byte, query []int8) { productsGo(out, codes, query) }
