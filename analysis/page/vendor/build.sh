#!/usr/bin/env bash
# Builds the two libraries of the page anew, into this folder. Needs npm, and Python with fontTools.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"private": true, "type": "module"}' > package.json
npm install --no-audit --no-fund --no-package-lock \
    @observablehq/plot@0.6.17 jspdf@4.2.1 svg2pdf.js@2.8.1 dejavu-fonts-ttf@2.37.3 esbuild@0.28.2
echo 'export * from "@observablehq/plot";' > plot.js
# Latin, Greek, Cyrillic, and signs: of numbers, arrows, mathematics, shapes. What else a name has,
# a PDF shows as a box.
characters="20-7E,A0-17F,192,218-21B,370-3FF,400-45F,490-491,2009-200A,2010-2015,2018-201E,2020-2022"
characters+=",2026,202F,2030,2032-2033,2044,2070-209C,20AC,2113,211D,2190-2199,21D0-21D4"
characters+=",2200-220F,2211-2213,2217-221A,221E,2225-222B,223C,2243-2248,2260-2265,226A-226B"
characters+=",2282-2287,2295-2299,22A5,22C5,25A0-25A1,25B2-25BF,25C6-25CF,2605,2713-2718"
for weight in "" -Bold; do
    python -m fontTools.subset "node_modules/dejavu-fonts-ttf/ttf/DejaVuSansCondensed$weight.ttf" \
        --unicodes="$characters" --layout-features= --no-hinting --notdef-outline \
        --drop-tables+=GDEF,GPOS,GSUB,kern,FFTM --output-file="font$weight.ttf"
done
cat > pdf.js <<'END'
import { jsPDF } from "jspdf";
import "svg2pdf.js";
import normal from "./font.ttf";
import bold from "./font-Bold.ttf";
jsPDF.API.events.push(["addFonts", function () {
  for (const [style, font] of Object.entries({ normal, bold })) {
    this.addFileToVFS(`${style}.ttf`, font);
    this.addFont(`${style}.ttf`, "DejaVu Sans Condensed", style);
  }
}]);
window.jsPDF = jsPDF;
END
npx esbuild plot.js --bundle --minify --format=iife --global-name=Plot --outfile="$here/plot.min.js"
npx esbuild pdf.js --bundle --minify --format=iife --loader:.ttf=base64 --outfile=pdf.min.js \
    --external:html2canvas --external:canvg --external:dompurify
# No collection of characters is named after an encoding, which readers of PDF complain of.
sed -i 's/"\/Ordering ("+[a-z]*\.encoding+")"/"\/Ordering (Identity)"/' pdf.min.js
gzip --best --no-name --stdout pdf.min.js > "$here/pdf.min.js.gz"
