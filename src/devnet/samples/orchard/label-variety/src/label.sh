# What stands on the picking list.

# tree_label NUMBER: the number first, so that the list still sorts, then the variety, cut at eight letters.
tree_label() {
  awk -F '\t' -v number="$1" '
    NR > 1 && $1 == number { name = substr($2, 1, 8) }
    END { print "#" number (name == "" ? "" : " " name) }
  ' data/trees.tsv
}
