. tests/assert.sh
. src/spacing.sh
is "$(spacing_dm Bramley)" 70 "a Bramley needs room"
is "$(spacing_dm Medlar)" 50 "a variety that is not in the table"
