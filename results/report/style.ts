/** The report's style sheet: both colour schemes, no font, image or script from anywhere. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fcfcfb; --panel: #fff; --line: #e2e3df; --text: #1d2022; --quiet: #62686d;
  --bar: #7ba6d9; --whisker: #23466f; --good: #16713c; --good-ground: #e3f4e8; --part: #855800; --part-ground: #fbf0d6;
  --bad: #a62b22; --bad-ground: #fbe7e4; --infra: #5a4a8c; --infra-ground: #ece8f8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15181a; --panel: #1c2023; --line: #31373b; --text: #e5e7e6; --quiet: #9aa3a8;
    --bar: #3f6d9f; --whisker: #b5d2f2; --good: #7fd6a0; --good-ground: #17352353; --part: #eec26a;
    --part-ground: #4a38104d; --bad: #f29a90; --bad-ground: #54221d5c; --infra: #bfb0f0; --infra-ground: #3a315c66;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 78rem; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 0.25rem; }
p { margin: 0.25rem 0 0.75rem; max-width: 50rem; color: var(--quiet); }
.facts { margin: 0.35rem 0 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 0.45rem 0.65rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
thead th { border-top: 0; font-size: 0.8rem; font-weight: 600; color: var(--quiet); white-space: nowrap; }
tbody th { font-weight: 500; overflow-wrap: anywhere; min-width: 7rem; }
.number { text-align: right; white-space: nowrap; }
tr.all > * { border-top: 1px solid var(--quiet); }
tr.all th, tr.all .value { font-weight: 650; }
tr.tier th { color: var(--quiet); padding-left: 1.8rem; font-weight: 400; }
.rate { min-width: 7.2rem; white-space: nowrap; }
.range, .quiet { color: var(--quiet); font-size: 0.85em; font-weight: 400; }
.rate svg { display: block; width: 100%; height: 9px; margin-top: 3px; }
.track { fill: var(--line); } .fill { fill: var(--bar); } .whisker { stroke: var(--whisker); stroke-width: 1.5; fill: none; vector-effect: non-scaling-stroke; }
.outcome { display: inline-block; padding: 0 0.45rem; border-radius: 5px; white-space: nowrap; font-size: 0.87rem; }
.outcome + .outcome { margin-left: 0.25rem; }
.good { color: var(--good); background: var(--good-ground); } .part { color: var(--part); background: var(--part-ground); }
.bad { color: var(--bad); background: var(--bad-ground); } .infra { color: var(--infra); background: var(--infra-ground); }
.matrix tbody th, .matrix thead th:first-child { position: sticky; left: 0; background: var(--panel); }
.matrix td, .matrix tbody th { padding-top: 0.25rem; padding-bottom: 0.25rem; }
.detail { display: block; max-width: 22rem; font-size: 0.78rem; line-height: 1.35; color: var(--quiet); overflow-wrap: anywhere;
  display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
.key { display: flex; flex-wrap: wrap; gap: 0.4rem 1.2rem; margin: 0.25rem 0 0.75rem; color: var(--quiet); font-size: 0.87rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.35rem 1.2rem; max-width: 60rem; margin: 0.5rem 0; }
dt { font-weight: 600; } dd { margin: 0; color: var(--quiet); }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.4rem; } body { padding: 1.25rem 0.75rem; } }
@media print { body { max-width: none; } .scroll { overflow: visible; } .detail { display: block; } }
`;
