. tests/assert.sh
. src/spacing.sh
is "$(spacing_of Bramley)" 70 "a Bramley needs room"
is "$(spacing_of Medlar)" 50 "a variety that is not in the table"
