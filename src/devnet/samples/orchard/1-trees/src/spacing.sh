# How far apart trees stand. Lengths are decimetres: the shell knows no fractions.

# spacing_of VARIETY: decimetres to the next tree in the row; 50 for a variety that is not in the table.
spacing_of() {
  awk -F '\t' -v wanted="$1" '
    $1 == wanted { print $3; found = 1 }
    END { if (!found) print 50 }
  ' data/varieties.tsv
}
