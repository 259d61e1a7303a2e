//! Names in a message: no more of them than are read.

/// Most names that a message has.
const NAMED_MAX: usize = 12;

/// The first names, and how many more there are: `a, b and 3 more`.
pub(crate) fn some_names(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let named = names[..names.len() - more].join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted() {
        let names: Vec<String> = (1..=14).map(|number| number.to_string()).collect();
        assert_eq!(some_names(&[]), "");
        assert_eq!(some_names(&names[..2]), "1, 2");
        assert_eq!(some_names(&names[..12]), "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12");
        assert_eq!(some_names(&names), "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more");
    }
}
