package dense

// products puts the inner product of the query with each row of codes into
// out. The rows are as long as the query, which is a multiple of lanes.
func productsGo(out []int32, codes []byte, query []int8) {
	for r := range out {
		row := codes[r*len(query) : (r+1)*len(query)]
		var a, b, c, d int32
		for i := 0; i+4 <= len(query); i += 4 {
			q, x := query[i:i+4:i+4], row[i:i+4:i+4]
			a += int32(q[0]) * int32(x[0])
			b += int32(q[1]) * int32(x[1])
			c += int32(q[2]) * int32(x[2])
			d += int32(q[3]) * int32(x[3])
		}
		out[r] = a + b + c + d
	}
}
