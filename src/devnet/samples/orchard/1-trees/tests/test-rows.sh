. tests/assert.sh
. src/spacing.sh
. src/rows.sh
is "$(row_length 1)" 90 "the first row"
is "$(list_rows | tail -n 1)" "row 3: 2 trees, 75 dm" "the last row"
