# What stands on the picking list.

# tree_label NUMBER
tree_label() {
  echo "#$1"
}
