# Whether the blossom is in danger.

# frost_warning DEGREES: what to say of a night that gets this cold. Cold air lies lower than the thermometer hangs, hence the two degrees.
frost_warning() {
  if [ "$1" -lt 2 ]; then
    echo "frost: cover the young trees"
  else
    echo "no frost"
  fi
}
