. tests/assert.sh
. src/label.sh
is "$(tree_label 4)" "#4" "the number comes first"
