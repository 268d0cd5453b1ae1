# Whether the blossom is in danger.

# frost_warning DEGREES: what to say of a night that gets this cold.
frost_warning() {
  if [ "$1" -lt 0 ]; then
    echo "frost: cover the young trees"
  else
    echo "no frost"
  fi
}
