//go:build amd64 && !noasm

package f32

// The products are made of tiles of tileRows×tileCols of C that live in registers.
const (
	tileRows = 6
	tileCols = panelCols
)

// tilesInRows and tilesInColumns hold the kernels for 1 to 6 rows and 8 or 16 columns.
var (
	tilesInRows = [tileRows][2]tileKernel{
		{tileRows1x8, tileRows1x16}, {tileRows2x8, tileRows2x16}, {tileRows3x8, tileRows3x16},
		{tileRows4x8, tileRows4x16}, {tileRows5x8, tileRows5x16}, {tileRows6x8, tileRows6x16},
	}
	tilesInColumns = [tileRows][2]tileKernel{
		{tileColumns1x8, tileColumns1x16}, {tileColumns2x8, tileColumns2x16}, {tileColumns3x8, tileColumns3x16},
		{tileColumns4x8, tileColumns4x16}, {tileColumns5x8, tileColumns5x16}, {tileColumns6x8, tileColumns6x16},
	}
)

type tileKernel = func(count, k int, a *float32, aStride, aStep int, b *float32, bStride int, c *float32, cStride int, alpha float32, add int)

// tileHeights covers rows by tiles of 6 and at most two smaller ones. Those have 3 rows
// at least, if they can: fewer sums cannot hide the latency of the multiply-adds.
func tileHeights(rows int) (six int, last [2]int) {
	six = rows / tileRows
	left := rows % tileRows
	if six > 0 && 1 <= left && left <= 3 {
		six--
		left += tileRows
	}
	high := nextTile(left)
	return six, [2]int{high, left - high}
}

// nextTile is the height of the first of the tiles that cover rows.
func nextTile(rows int) int {
	if rows > tileRows && rows <= tileRows+3 {
		return (rows + 1) / 2 // 7 = 4+3, 8 = 4+4, 9 = 5+4
	}
	return min(rows, tileRows)
}

// packTransposed packs 16 rows of a matrix, depth values of each, as the columns of a panel.
func packTransposed(depth int, panel, rows []float32, ld int) {
	if eights := depth / 8; eights > 0 {
		transpose8(eights, &panel[0], 4*tileCols, &rows[0], 4*ld)
		transpose8(eights, &panel[8], 4*tileCols, &rows[8*ld], 4*ld)
	}
	for i := depth &^ 7; i < depth; i++ {
		for r := range tileCols {
			panel[i*tileCols+r] = rows[r*ld+i]
		}
	}
}

// storeTail moves the first width of 16 columns of finished tiles into C, or adds them.
func storeTail(tiles []float32, rows, width int, c []float32, ldc, add int) {
	for i := range rows {
		from, to := tiles[i*tileCols:][:width], c[i*ldc:][:width]
		if add == 0 {
			copy(to, from)
			continue
		}
		for j, v := range from {
			to[j] += v
		}
	}
}
