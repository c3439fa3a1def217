#!/bin/sh
# Runs every test and says how many passed.
passed=0
for test in tests/*.sh; do
    sh "$test" || { echo "failed: $test"; exit 1; }
    passed=$((passed + 1))
done
echo "$passed tests passed"
