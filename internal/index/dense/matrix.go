package dense

// A matrix is dense, row by row.
type matrix struct {
	rows, cols int
	data       []float32
}

func newMatrix(rows, cols int) matrix { return matrix{rows, cols, make([]float32, rows*cols)} }

func (m matrix) row(i int) []float32 { return m.data[i*m.cols : (i+1)*m.cols] }
