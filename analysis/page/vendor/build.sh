#!/usr/bin/env bash
# Builds the two libraries of the page anew, into this folder. Needs npm.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"private": true, "type": "module"}' > package.json
npm install --no-audit --no-fund --no-package-lock \
    @observablehq/plot@0.6.17 jspdf@4.2.1 svg2pdf.js@2.8.1 esbuild@0.28.2
echo 'export * from "@observablehq/plot";' > plot.js
printf 'import { jsPDF } from "jspdf";\nimport "svg2pdf.js";\nwindow.jsPDF = jsPDF;\n' > pdf.js
npx esbuild plot.js --bundle --minify --format=iife --global-name=Plot --outfile="$here/plot.min.js"
npx esbuild pdf.js --bundle --minify --format=iife --outfile=pdf.min.js \
    --external:html2canvas --external:canvg --external:dompurify
gzip --best --no-name --stdout pdf.min.js > "$here/pdf.min.js.gz"
