# is ACTUAL EXPECTED WHAT: ends the test when the two differ.
is() {
  [ "$1" = "$2" ] && return
  echo "  $3: expected \"$2\", got \"$1\""
  exit 1
}
