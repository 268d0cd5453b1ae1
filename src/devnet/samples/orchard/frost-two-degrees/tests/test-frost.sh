. tests/assert.sh
. src/frost.sh
is "$(frost_warning -3)" "frost: cover the young trees" "a cold night"
is "$(frost_warning 1)" "frost: cover the young trees" "a night just above freezing"
is "$(frost_warning 6)" "no frost" "a mild night"
