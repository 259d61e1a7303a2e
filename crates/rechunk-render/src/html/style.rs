//! The page's style sheet and its script, which it can do without.

/// Colours are those of the drawings: the Okabe-Ito palette.
pub(super) const CSS: &str = "\
:root{color-scheme:light dark;--bg:#fff;--fg:#1f2328;--muted:#5b6570;--rule:#d5dae0;--soft:#f4f6f8;--track:#e6eaee;--blue:#0072b2;--orange:#e69f00;--green:#009e73;--red:#d55e00;--pink:#cc79a7;--grey:#a4b0bd;--line:#0072b2;--good:#00714f;--bad:#b34700}
@media (prefers-color-scheme:dark){:root{--bg:#12161c;--fg:#e6edf3;--muted:#9aa6b2;--rule:#303842;--soft:#1a2028;--track:#28303a;--blue:#56b4e9;--orange:#e69f00;--green:#18b58a;--red:#ee7733;--pink:#d896bb;--grey:#566372;--line:#56b4e9;--good:#3fd0a5;--bad:#ff9a5c}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;overflow-wrap:anywhere;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif}
main,header,footer{max-width:1180px;margin:0 auto;padding:0 24px}
header{padding-top:28px}
h1{font-size:1.45rem;line-height:1.3;margin:0 0 4px;overflow-wrap:anywhere}
h1 .to{color:var(--muted);font-weight:400;padding:0 .15em}
h2{font-size:1.12rem;margin:0 0 10px}
h3,h4{font-size:.95rem;margin:20px 0 8px}
p{margin:0 0 10px;max-width:72ch}
section{margin:34px 0 0;padding:22px 0 0;border-top:1px solid var(--rule)}
.muted{color:var(--muted)}.small{font-size:.87rem}
.line{color:var(--muted);margin:0;overflow-wrap:anywhere}
.state{display:inline-block;border-radius:99px;padding:1px 11px;font-size:.82rem;font-weight:600;margin-right:10px;border:1px solid currentColor}
.state.good{color:var(--good)}.state.bad{color:var(--bad)}.state.still{color:var(--muted)}
.tiles{display:grid;grid-template-columns:repeat(var(--n),minmax(0,1fr));gap:12px;margin:20px 0 0;padding:0;list-style:none}
.tiles li{background:var(--soft);border-radius:8px;padding:11px 14px 12px;min-width:0}
.tiles b{display:block;font-size:1.22rem;line-height:1.3;font-weight:600;overflow-wrap:anywhere}
.tiles span{display:block;font-size:.82rem;color:var(--muted)}
.note{border-left:4px solid var(--orange);background:var(--soft);border-radius:0 8px 8px 0;padding:9px 14px;margin:14px 0 0;overflow-wrap:anywhere}
.note.bad{border-color:var(--red)}
.note p:last-child{margin-bottom:0}
.note ul{margin:4px 0 0;padding-left:18px}
.scroll{overflow-x:auto;margin:0 0 10px;border:1px solid var(--rule);border-radius:8px}
.scroll:focus-visible{outline:2px solid var(--line)}
table{border-collapse:collapse;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:7px 11px;white-space:nowrap;vertical-align:baseline}
th{font-weight:600;color:var(--muted);background:var(--soft)}
td{border-top:1px solid var(--rule);position:relative}
td[colspan]{white-space:normal;min-width:15rem}th,td{overflow-wrap:normal}
.n{text-align:right}
tr.chosen td,tr.total td{font-weight:600}
tr.dropped td{color:var(--muted)}
td .bar{position:absolute;left:0;top:5px;bottom:5px;background:var(--blue);opacity:.17;border-radius:0 3px 3px 0}
tr.chosen .bar{background:var(--green);opacity:.28}
a{color:var(--line)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(226px,1fr));gap:14px;margin:14px 0 12px}
figure{margin:0;background:var(--soft);border-radius:8px;padding:12px 14px;min-width:0}
figure h3,figure h4{margin:0 0 6px}
figure svg{display:block;width:100%;max-width:270px;height:auto;margin:0 auto}
figcaption{font-size:.86rem;margin-top:8px;overflow-wrap:anywhere}
figcaption div{padding-left:19px;position:relative}
figcaption strong{font-weight:600}
.sw{position:absolute;left:0;top:.34em;width:11px;height:11px;border-radius:2px}
.lines{list-style:none;margin:0;padding:0}
.key{display:flex;flex-wrap:wrap;gap:2px 18px;font-size:.86rem;margin:6px 0 0;padding:0;list-style:none}
.key li{padding-left:18px;position:relative}
.c-read{background:var(--blue)}.c-write{background:var(--orange)}.c-plan{background:var(--green)}.c-over{background:var(--red)}.c-measured{background:var(--pink)}.c-rest{background:var(--grey)}.c-glass{background:var(--orange);opacity:.55}.c-lane{background:var(--blue);opacity:.55}
.memory{margin:0 0 16px}
.memory .head{display:flex;justify-content:space-between;gap:12px;font-size:.88rem;flex-wrap:wrap}
.stack{display:flex;height:22px;background:var(--track);border-radius:4px;overflow:hidden;margin:4px 0}
.stack i{display:block;height:100%;border-right:1px solid var(--bg)}
.chart{display:grid;grid-template-columns:4.6rem minmax(0,1fr);margin:8px 0 6px;font-size:.78rem;color:var(--muted)}
.ys{position:relative}
.ys span{position:absolute;right:9px;transform:translateY(50%);white-space:nowrap}
.plot{position:relative;height:230px;border-left:1px solid var(--grey);border-bottom:1px solid var(--grey)}
.plot.low{height:130px}.plot.tall{height:auto}
.plot svg{position:absolute;inset:0;width:100%;height:100%;display:block;overflow:visible}
.plot .gridline{position:absolute;left:0;right:0;border-top:1px dashed var(--rule)}
.dot{position:absolute;width:8px;height:8px;margin:-4px;border-radius:50%;background:var(--line);border:1px solid var(--bg)}
.dot.given{width:14px;height:14px;margin:-7px;background:var(--green);border-width:2px}
.mark{position:absolute;top:0;bottom:0;border-left:1.5px dashed var(--muted)}
.mark b{position:absolute;top:0;left:6px;white-space:nowrap;font-weight:600;color:var(--fg);background:var(--bg);padding:0 3px;border-radius:3px;z-index:2}
.mark.second b{top:1.7em}
.mark.left b{left:auto;right:6px}
.xs{grid-column:2;position:relative;height:1.9em}
.xs span{position:absolute;top:5px;transform:translateX(-50%);white-space:nowrap}
.xs span.first{transform:none}.xs span.last{transform:translateX(-100%)}
.band{grid-column:2;display:flex;height:20px;margin-top:2px;border-radius:4px;overflow:hidden;position:relative}
.band span{position:absolute;top:0;bottom:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;padding:0 6px;line-height:20px;color:var(--fg);background:var(--track);border-left:2px solid var(--bg)}
.band span:empty{padding:0;min-width:1px;border:0;background:var(--grey)}
.area{fill:var(--line);fill-opacity:.2}.curve{fill:none;stroke:var(--line);stroke-width:2;vector-effect:non-scaling-stroke;stroke-linejoin:round}
.area.second{fill:var(--pink)}.curve.second{stroke:var(--pink)}
.level{stroke:var(--green);stroke-width:1.5;stroke-dasharray:5 4;vector-effect:non-scaling-stroke}.level.limit{stroke:var(--red)}
.plot rect{fill-opacity:.85}.t0{fill:var(--blue)}.t1{fill:var(--orange)}.t2{fill:var(--green)}.t3{fill:var(--pink)}
.b0{background:var(--blue)}.b1{background:var(--orange)}.b2{background:var(--green)}.b3{background:var(--pink)}
details{border:1px solid var(--rule);border-radius:8px;margin:0 0 10px;padding:0 16px}
summary{cursor:pointer;padding:10px 0;font-weight:600;overflow-wrap:anywhere}
summary .muted{font-weight:400}
details>section{margin:0;padding:12px 0 6px}
details>section>h3{font-size:1rem;margin-top:0}
button{font:inherit;font-size:.87rem;color:inherit;background:var(--soft);border:1px solid var(--rule);border-radius:6px;padding:4px 12px;margin:0 0 12px;cursor:pointer}
footer{margin-top:40px;padding-top:16px;padding-bottom:36px;color:var(--muted);font-size:.85rem;border-top:1px solid var(--rule)}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,520px),1fr));gap:0 26px}
.columns>div{min-width:0}
@media (max-width:900px){.tiles{grid-template-columns:repeat(auto-fill,minmax(150px,1fr))}}
@media (max-width:600px){main,header,footer{padding-left:16px;padding-right:16px}header{padding-top:20px}.minor{display:none}.tiles{grid-template-columns:1fr 1fr}.tiles b{font-size:1.08rem}.chart{grid-template-columns:3.9rem minmax(0,1fr)}.plot{height:200px}figure svg{max-width:290px}th,td{padding:6px 9px}td:first-child:not(.n){white-space:normal;min-width:7rem}}
@media print{:root{color-scheme:light;--bg:#fff;--fg:#000;--muted:#444;--rule:#bbb;--soft:#f4f6f8}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}body{font-size:11px}main,header,footer{max-width:none;padding-left:0;padding-right:0}section{break-inside:auto;margin-top:18px;padding-top:12px}figure,.memory,.chart,tr,.tiles li{break-inside:avoid}.scroll{overflow:visible}th,td{padding:3px 7px;white-space:normal}button{display:none}details::details-content{content-visibility:visible;display:block;block-size:auto}h2,h3,h4{break-after:avoid}}";

/// Opens and closes all details, and opens them to be printed. Has to be well-formed XML too: no
/// `<` and no `&`.
pub(super) const SCRIPT: &str = "\
(function(){var all=Array.prototype.slice.call(document.querySelectorAll('details'));\
function set(open){all.forEach(function(one){one.open=open})}\
window.addEventListener('beforeprint',function(){set(true)});\
function follow(){var at=document.getElementById(decodeURIComponent(location.hash.slice(1)));\
if(at){if(at.tagName==='DETAILS'){at.open=true}}}\
window.addEventListener('hashchange',follow);follow();\
var place=document.getElementById('all');\
if(place){var button=document.createElement('button');button.type='button';button.textContent='Open all';\
button.addEventListener('click',function(){var open=all.some(function(one){return !one.open});set(open);\
button.textContent=open?'Close all':'Open all'});place.appendChild(button)}})();";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_in_markup_as_they_are_and_ask_for_nothing() {
        for text in [CSS, SCRIPT] {
            for mark in ["<", "&", "url(", "@import", "http", "fetch"] {
                assert!(!text.contains(mark), "{mark}");
            }
        }
        assert_eq!(CSS.matches('{').count(), CSS.matches('}').count());
    }
}
