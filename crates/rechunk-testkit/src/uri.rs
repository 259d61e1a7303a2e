//! Paths and queries of requests, decoded.

/// Text with its `%XX` decoded; what is no UTF-8 then is replaced.
pub(crate) fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match hex.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(value) if byte == b'%' => {
                decoded.push(value);
                at += 3;
            }
            _ => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Bucket and key of `/bucket/key`, decoded.
pub(crate) fn bucket_and_key(path: &str) -> (String, String) {
    let path = path.trim_start_matches('/');
    let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
    (decode(bucket), decode(key))
}

/// The value of a parameter of a query string, decoded: `Some("")` for one without a value.
pub(crate) fn parameter(query: &str, name: &str) -> Option<String> {
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(key) == name).then(|| decode(&value.replace('+', " ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_queries_are_decoded() {
        assert_eq!(bucket_and_key("/b/a%2Fc%20d/e"), ("b".into(), "a/c d/e".into()));
        assert_eq!(bucket_and_key("/b"), ("b".into(), String::new()));
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz%C3%A9"), "%zzé");
        assert_eq!(parameter("uploads=&x=1", "uploads"), Some(String::new()));
        assert_eq!(parameter("uploads&x=a%2Bb+c", "x"), Some("a+b c".into()));
        assert_eq!(parameter("x=1", "y"), None);
    }
}
