//! Text tables: columns padded, numbers to the right.

/// Lays out rows of cells; the first row is the head. Columns named in `right` are aligned right.
pub(crate) fn lay_out(rows: &[Vec<String>], right: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(column, cell)| {
                let padding = " ".repeat(widths[column] - cell.chars().count());
                if right.contains(&column) { padding + cell } else { cell.clone() + &padding }
            })
            .collect();
        lines.push(format!("  {}", cells.join("  ").trim_end()));
    }
    lines.join("\n")
}

/// `1,234,567`: digits in groups of three.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1.2 s`, `3 min`, `4.5 h`, `2.1 days`.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => "< 1 ms".to_owned(),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows =
            [vec!["a".to_owned(), "n".to_owned()], vec!["bcd".to_owned(), "1000".to_owned()]];
        assert_eq!(lay_out(&rows, &[1]), "  a       n\n  bcd  1000");
    }

    #[test]
    fn numbers_and_times() {
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(number(12), "12");
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(seconds(600.0), "10 min");
    }
}
