. tests/assert.sh
. src/water.sh
is "$(litres_for 0)" 35 "a tree in its first summer"
is "$(litres_for 1)" 25 "a young tree"
is "$(litres_for 9)" 10 "an old tree"
