. tests/assert.sh
. src/label.sh
is "$(tree_label 4)" "#4 Jonagold" "number and variety"
is "$(tree_label 99)" "#99" "a tree that is not in the list"
