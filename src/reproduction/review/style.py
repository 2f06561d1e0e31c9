"""How the pages look: on a screen, on a phone and on paper, without a font to fetch."""

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; margin: 0 auto; max-width: 62em;
  padding: 1em 1.5em 4em; }
h1, h2, h3 { line-height: 1.2; margin-top: 1.6em; }
img, svg { max-width: 100%; height: auto; }
.picture img { display: block; max-width: 94vw; position: relative; left: 50%;
  transform: translateX(-50%); }
div.formula { margin: 1em 0; text-align: center; overflow-x: auto; overflow-y: hidden; }
.output_html, .output_markdown { overflow-x: auto; }
.output_html:has(.picture) { overflow: visible; }
table { border-collapse: collapse; font-size: 90%; font-variant-numeric: tabular-nums; }
th { border-bottom: 2px solid #666; }
th, td { text-align: left; vertical-align: top; padding: .25em .8em .25em 0; }
td { border-bottom: 1px solid #ddd; }
details { color: #666; font-size: 80%; margin: .2em 0; }
details pre { overflow-x: auto; background: #f7f7f7; padding: .5em; line-height: 1.35; }
summary { cursor: pointer; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.made { color: #555; font-size: 85%; overflow-wrap: anywhere; }
.absent { color: #555; font-style: italic; }
a.anchor-link { display: none; }
@media print { details { display: none; } }
"""
