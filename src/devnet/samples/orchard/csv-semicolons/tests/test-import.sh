. tests/assert.sh
. src/import.sh
is "$(import_trees tests/two-trees.csv | head -n 1)" "$(printf '9\tMedlar\t3\t2026')" "the first of two trees"
is "$(import_trees tests/semicolons.csv)" "$(printf '11\tQuince\t4\t2026')" "a list with semicolons"
