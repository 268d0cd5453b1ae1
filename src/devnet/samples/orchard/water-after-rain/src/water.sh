# How much water a tree gets.

# litres_for AGE [RAIN]: litres a week for a tree of so many years, less what fell as rain in millimetres.
litres_for() {
  if [ "$1" -lt 3 ]; then
    litres=20
  else
    litres=10
  fi
  litres=$((litres - ${2:-0}))
  [ "$litres" -gt 0 ] && echo "$litres" || echo 0
}
