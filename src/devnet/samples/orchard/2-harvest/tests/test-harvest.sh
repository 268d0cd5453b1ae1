. tests/assert.sh
. src/harvest.sh
is "$(harvest_of 2024)" "48 kg" "a year with a harvest"
is "$(harvest_of 1999)" "0 kg" "a year without one"
