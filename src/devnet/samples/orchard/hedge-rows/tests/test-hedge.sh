. tests/assert.sh
. src/spacing.sh
. src/hedge.sh
is "$(hedge_length 6 Quince)" 135 "six quinces as a hedge"
