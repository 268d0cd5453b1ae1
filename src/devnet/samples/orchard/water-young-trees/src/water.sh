# How much water a tree gets.

# litres_for AGE: litres a week for a tree of so many years.
litres_for() {
  if [ "$1" -lt 1 ]; then
    echo 35
  elif [ "$1" -lt 3 ]; then
    echo 25
  else
    echo 10
  fi
}
