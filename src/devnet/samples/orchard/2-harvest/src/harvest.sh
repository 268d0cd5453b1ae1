# What the trees bore.

# harvest_of YEAR: the weight of a year, with its unit.
harvest_of() {
  awk -F '\t' -v year="$1" 'NR > 1 && $2 == year { total += $3 } END { print total + 0 " kg" }' data/harvest.tsv
}
