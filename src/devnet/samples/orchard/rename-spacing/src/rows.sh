# The rows of the orchard.

# trees_in ROW: the varieties in a row, in order, one a line.
trees_in() {
  awk -F '\t' -v row="$1" 'NR > 1 && $3 == row { print $2 }' data/trees.tsv
}

# row_length ROW: decimetres from the first stake to the last.
row_length() {
  total=0
  for variety in $(trees_in "$1"); do
    total=$((total + $(spacing_dm "$variety")))
  done
  echo "$total"
}

# list_rows: each row with the number of its trees and its length.
list_rows() {
  for row in $(awk -F '\t' 'NR > 1 { print $3 }' data/trees.tsv | sort -un); do
    echo "row $row: $(trees_in "$row" | wc -l | tr -d ' ') trees, $(row_length "$row") dm"
  done
}
