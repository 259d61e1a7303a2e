//! Colours and type: the Okabe-Ito palette, which colour-blind readers can tell apart.

use super::canvas::Face;

/// The style sheet. No variables: several viewers do not know them.
pub(crate) const CSS: &str = "\
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif;fill:#1f2328;white-space:pre}
.muted{fill:#5b6570}.strong{font-weight:600}.middle{text-anchor:middle}.end{text-anchor:end}
.page{fill:#fff}.rule{stroke:#d5dae0;stroke-width:1}
.array{fill:#eef1f4;stroke:#8a94a0;stroke-width:1;stroke-linejoin:round}
.array.top{fill:#f8f9fb}.array.side{fill:#dfe4e9}.array.empty{fill:none;stroke-dasharray:4 3}
.grid{fill:none;stroke:#a9b2bc;stroke-width:.6}
.read{fill:#0072b2;stroke:#005a8c;stroke-width:1;stroke-linejoin:round}
.write{fill:#e69f00;stroke:#b35900;stroke-width:1;stroke-linejoin:round}
.front{fill-opacity:1}.top{fill-opacity:.75}.side{fill-opacity:.88}
.glass.front{fill-opacity:.62}.glass.top{fill-opacity:.42}.glass.side{fill-opacity:.52}
.array.front,.array.top,.array.side{fill-opacity:1}
.hollow.front,.hollow.top,.hollow.side{fill-opacity:0;stroke:#e69f00;stroke-width:2}
.arrow{fill:none;stroke:#5b6570;stroke-width:1.6}.arrowhead{fill:#5b6570}
.track{fill:#e6eaee}.limit{stroke:#1f2328;stroke-width:2}
.plan{fill:#009e73}.over{fill:#d55e00}.measured{fill:#cc79a7}.other{fill:#a4b0bd}
.notch{fill:none;stroke:#fff;stroke-width:3}.tick{stroke:#d5dae0;stroke-width:1;stroke-dasharray:2 3}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.muted{fill:#9aa6b2}
.page{fill:#12161c}.rule{stroke:#303842}
.array{fill:#232b34;stroke:#7a8693}.array.top{fill:#2b343f}.array.side{fill:#1b222a}
.grid{stroke:#56616d}
.read{fill:#56b4e9;stroke:#9ad4f5}.write{fill:#e69f00;stroke:#ffd27a}
.arrow{stroke:#9aa6b2}.arrowhead{fill:#9aa6b2}
.track{fill:#28303a}.limit{stroke:#e6edf3}.other{fill:#566372}
.notch{stroke:#12161c}.tick{stroke:#3a444f}
}";

/// The picture's title.
pub(crate) const TITLE: Face = Face { class: "strong", size: 20.0 };
/// The line below it.
pub(crate) const SUBTITLE: Face = Face { class: "muted", size: 13.0 };
/// Head of a section or a panel.
pub(crate) const HEAD: Face = Face { class: "strong", size: 13.0 };
/// Emphasised line.
pub(crate) const STRONG: Face = Face { class: "strong", size: 12.0 };
/// Plain line.
pub(crate) const LINE: Face = Face { class: "", size: 12.0 };
/// Secondary line.
pub(crate) const MUTED: Face = Face { class: "muted", size: 11.5 };
/// Secondary line, centred.
pub(crate) const MUTED_MIDDLE: Face = Face { class: "muted middle", size: 11.0 };
/// Emphasised line, centred.
pub(crate) const STRONG_MIDDLE: Face = Face { class: "strong middle", size: 12.0 };
/// Plain line that ends where it stands.
pub(crate) const LINE_END: Face = Face { class: "end", size: 12.0 };
/// Small print.
pub(crate) const NOTE: Face = Face { class: "muted", size: 11.0 };
