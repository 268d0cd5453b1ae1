# Hedges: rows in which the trees stand twice as close.

# hedge_length COUNT VARIETY: decimetres that so many trees of a variety take up as a hedge.
hedge_length() {
  echo $(($1 * $(spacing_of "$2") / 2))
}
