. tests/assert.sh
. src/water.sh
is "$(litres_for 1)" 20 "a young tree in a dry week"
is "$(litres_for 1 15)" 5 "a young tree after rain"
is "$(litres_for 9 40)" 0 "an old tree after a wet week"
