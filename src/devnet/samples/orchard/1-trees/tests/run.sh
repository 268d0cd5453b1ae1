#!/bin/sh
# Runs every test; exits 1 when one fails.
cd "$(dirname "$0")/.." || exit 2
ran=0
failed=0
for file in tests/test-*.sh; do
  ran=$((ran + 1))
  if sh "$file"; then
    echo "ok    $file"
  else
    echo "FAIL  $file"
    failed=$((failed + 1))
  fi
done
echo "$ran tests, $failed failed"
[ "$failed" -eq 0 ]
