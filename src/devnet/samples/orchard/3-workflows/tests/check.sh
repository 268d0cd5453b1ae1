#!/bin/sh
# What is quick to say: every script parses, and every table has as many columns in each line as in its first.
cd "$(dirname "$0")/.." || exit 2
status=0
for file in bin/* src/*.sh tests/*.sh; do
  sh -n "$file" || status=1
done
for file in data/*.tsv; do
  awk -F '\t' -v file="$file" '
    NR == 1 { columns = NF }
    NF != columns { print file ": line " NR " has " NF " columns, not " columns; wrong = 1 }
    END { exit wrong }
  ' "$file" || status=1
done
exit "$status"
