# Reads tree lists that other programs wrote.

# import_trees FILE: lines "number,variety,row,planted" as the tab-separated lines of data/trees.tsv.
import_trees() {
  awk -F ',' '{ print $1 "\t" $2 "\t" $3 "\t" $4 }' "$1"
}
