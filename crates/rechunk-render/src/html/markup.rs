//! Writes markup that is HTML and well-formed XML at once: every element is closed, every text
//! and attribute escaped.

use crate::harmless::harmless_line;
use crate::svg::canvas::escape;

/// Markup written so far.
#[derive(Debug, Default)]
pub(super) struct Html {
    text: String,
    /// Heads are one level lower: inside what has a head itself.
    is_inner: bool,
}

impl Html {
    /// The markup.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Bytes of markup so far.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Goes back to an earlier number of bytes.
    pub(super) fn cut_back(&mut self, bytes: usize) {
        self.text.truncate(bytes);
    }

    /// Text of any origin.
    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(&escaped(text));
    }

    /// Markup of our own that is well-formed: a drawing, a style sheet.
    pub(super) fn ours(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    /// An element with a class (none if empty) and what `inside` writes.
    pub(super) fn within(
        &mut self,
        tag: &'static str,
        class: &str,
        inside: impl FnOnce(&mut Self),
    ) {
        self.with(tag, &[("class", class)], inside);
    }

    /// An element with attributes, of which the empty ones are left out.
    pub(super) fn with(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, &str)],
        inside: impl FnOnce(&mut Self),
    ) {
        self.text.push('<');
        self.text.push_str(tag);
        for (name, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
            self.text.push(' ');
            self.text.push_str(name);
            self.text.push_str("=\"");
            self.text.push_str(&escaped(value));
            self.text.push('"');
        }
        self.text.push('>');
        inside(self);
        self.text.push_str("</");
        self.text.push_str(tag);
        self.text.push('>');
    }

    /// An element that holds text alone.
    pub(super) fn leaf(&mut self, tag: &'static str, class: &str, text: &str) {
        self.within(tag, class, |html| html.text(text));
    }

    /// A section with its head.
    pub(super) fn section(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.within("section", "", |html| {
            html.leaf(if html.is_inner { "h3" } else { "h2" }, "", head);
            inside(html);
        });
        self.text.push('\n');
    }

    /// A head within a section.
    pub(super) fn subhead(&mut self, head: &str) {
        self.leaf(if self.is_inner { "h4" } else { "h3" }, "", head);
    }

    /// Sections with heads one level lower.
    pub(super) fn inner(&mut self, inside: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_inner, true);
        inside(self);
        self.is_inner = before;
    }

    /// The figures that matter, `columns` beside each other on a wide page: each a number with its
    /// words.
    pub(super) fn tiles(&mut self, columns: usize, tiles: &[(String, String)]) {
        let style = format!("--n:{columns}");
        self.with("ul", &[("class", "tiles"), ("style", &style)], |html| {
            for (number, words) in tiles {
                html.within("li", "", |html| {
                    html.leaf("b", "", number);
                    html.leaf("span", "", words);
                });
            }
        });
    }

    /// A table that scrolls by itself where it is wider than the page; columns named in `right` are
    /// numbers.
    pub(super) fn table(
        &mut self,
        label: &str,
        head: &[&str],
        right: &[usize],
        rows: &[Vec<Cell>],
    ) {
        let class = |column: usize| if right.contains(&column) { "n" } else { "" };
        let attributes =
            [("class", "scroll"), ("role", "region"), ("aria-label", label), ("tabindex", "0")];
        self.with("div", &attributes, |html| {
            html.within("table", "", |html| {
                html.within("thead", "", |html| {
                    html.within("tr", "", |html| {
                        for (column, name) in head.iter().enumerate() {
                            let attributes = [("scope", "col"), ("class", class(column))];
                            html.with("th", &attributes, |html| html.text(name));
                        }
                    });
                });
                html.within("tbody", "", |html| {
                    for row in rows {
                        html.row(row, class);
                    }
                });
            });
        });
        self.text.push('\n');
    }

    fn row(&mut self, row: &[Cell], class: impl Fn(usize) -> &'static str) {
        let row_class = row.iter().find_map(|cell| cell.row_class).unwrap_or_default();
        self.within("tr", row_class, |html| {
            let mut column = 0;
            for cell in row {
                let span = if cell.span > 1 { cell.span.to_string() } else { String::new() };
                let class = if cell.span > 1 { "" } else { class(column) };
                html.with("td", &[("class", class), ("colspan", &span)], |html| {
                    if let Some(share) = cell.bar {
                        let style = format!("width:{:.1}%", share.clamp(0.0, 1.0) * 100.0);
                        html.with("i", &[("class", "bar"), ("style", &style)], |_| {});
                    }
                    if let Some(target) = &cell.link {
                        html.with("a", &[("href", target)], |html| html.text(&cell.text));
                    } else {
                        html.text(&cell.text);
                    }
                });
                column += cell.span.max(1);
            }
        });
    }
}

/// A cell of a table.
#[derive(Debug, Default, Clone)]
pub(super) struct Cell {
    text: String,
    /// Columns it takes, where more than one.
    span: usize,
    /// A bar behind the text, as part of the cell's width.
    bar: Option<f64>,
    /// Class of the whole row.
    row_class: Option<&'static str>,
    /// A place on this page.
    link: Option<String>,
}

impl Cell {
    /// Over several columns.
    pub(super) fn wide(text: impl Into<String>, columns: usize) -> Self {
        Self { text: text.into(), span: columns, ..Self::default() }
    }

    /// With a bar.
    pub(super) fn bar(mut self, share: f64) -> Self {
        self.bar = Some(share);
        self
    }

    /// In a row of this class.
    pub(super) fn in_row(mut self, class: &'static str) -> Self {
        self.row_class = (!class.is_empty()).then_some(class);
        self
    }

    /// Leads to a place on this page.
    pub(super) fn leads_to(mut self, id: &str) -> Self {
        self.link = Some(format!("#{id}"));
        self
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Text as character data or attribute value; what a reader or a terminal would obey is spelled
/// out.
pub(super) fn escaped(text: &str) -> String {
    escape(&harmless_line(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        let mut html = Html::default();
        html.with("p", &[("class", ""), ("title", "\"><script>")], |html| {
            html.text("</p><script>alert('&')</script>\u{202e}\0\n");
        });
        assert_eq!(
            html.into_text(),
            "<p title=\"&quot;&gt;&lt;script&gt;\">&lt;/p&gt;&lt;script&gt;alert(&#39;&amp;&#39;)\
             &lt;/script&gt;\\u{202e}\\u{0}\\n</p>"
        );
    }

    #[test]
    fn tables_scroll_in_their_own_box_and_numbers_stand_right() {
        let mut html = Html::default();
        let rows = [vec![Cell::from("a").in_row("chosen"), Cell::from("1").bar(0.5)]];
        html.table("counts", &["name", "n"], &[1], &rows);
        let text = html.into_text();
        assert!(text.starts_with("<div class=\"scroll\" role=\"region\" aria-label=\"counts\""));
        assert!(text.contains("<th scope=\"col\" class=\"n\">n</th>"));
        assert!(text.contains("<tr class=\"chosen\"><td>a</td><td class=\"n\"><i class=\"bar\" style=\"width:50.0%\"></i>1</td></tr>"));
    }
}
