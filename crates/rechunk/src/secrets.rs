//! Texts without what must not be shown of the URLs in them.

/// A text with who asks, and with what, left out of the URLs in it.
pub(crate) fn without_secrets(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || "\"`<>".contains(c);
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        shown.push_str(before);
        shown.push_str("://");
        let url = &after[..after.find(is_end).unwrap_or(after.len())];
        let (url, behind) = after.split_at(url.trim_end_matches([')', '\'', ',', ':']).len());
        let (place, query) = url.split_once('?').map_or((url, ""), |(place, _)| (place, "?…"));
        let end = place.find('/').unwrap_or(place.len());
        let (authority, path) = place.split_at(end);
        match authority.rsplit_once('@') {
            // The container of an Azure location stands there.
            Some((user, _)) if before.ends_with("abfs") || before.ends_with("abfss") => {
                let container = user.split(':').next().unwrap_or_default();
                shown.push_str(container);
                shown.push_str(&authority[user.len()..]);
            }
            Some((_, host)) => {
                shown.push_str("…@");
                shown.push_str(host);
            }
            None => shown.push_str(authority),
        }
        shown.push_str(path);
        shown.push_str(query);
        rest = behind;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_and_with_what_is_not_shown() {
        for (text, shown) in [
            ("cannot read http://u:p@h:1/x", "cannot read http://…@h:1/x"),
            ("(https://h/a?sig=S&x) and s3://b/k", "(https://h/a?…) and s3://b/k"),
            ("\"http://a@b@h\": no", "\"http://…@h\": no"),
            ("(http://u:pa(s's)@h/x)", "(http://…@h/x)"),
            ("http://h/x?a=(b)&c: no", "http://h/x?…: no"),
            (
                "abfss://container@a.dfs.core.windows.net/x",
                "abfss://container@a.dfs.core.windows.net/x",
            ),
            ("is it there? a@b", "is it there? a@b"),
            ("://", "://"),
        ] {
            assert_eq!(without_secrets(text), shown);
        }
    }
}
