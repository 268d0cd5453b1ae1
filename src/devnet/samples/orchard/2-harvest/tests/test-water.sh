. tests/assert.sh
. src/water.sh
is "$(litres_for 1)" 20 "a young tree"
is "$(litres_for 9)" 10 "an old tree"
