#!/usr/bin/env bash
# Builds the library of the page anew, into this folder. Needs npm.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"private": true, "type": "module"}' > package.json
npm install --no-audit --no-fund --no-package-lock @observablehq/plot@0.6.17 esbuild@0.28.2
echo 'export * from "@observablehq/plot";' > plot.js
npx esbuild plot.js --bundle --minify --format=iife --global-name=Plot --outfile="$here/plot.min.js"
