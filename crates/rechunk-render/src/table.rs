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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows =
            [vec!["a".to_owned(), "n".to_owned()], vec!["bcd".to_owned(), "1000".to_owned()]];
        assert_eq!(lay_out(&rows, &[1]), "  a       n\n  bcd  1000");
    }
}
