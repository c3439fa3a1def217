#!/bin/sh
out=$(sh bin/harbor version)
[ "$out" = "harbor 1.0" ] || { echo "version: got '$out'"; exit 1; }
