//! Splits a document whose one object has thousands of members, without holding all of it.

use super::read::DOCUMENT_BYTES_MAX;

/// Bytes after which sizes are looked at.
const PIECE_BYTES: usize = 64 << 10;

/// Splits a document that comes piece by piece into the members of one object in it, and what is
/// around that object. What a member or the rest says is not looked at: [`super::read_object`] does
/// that.
#[derive(Debug)]
pub struct MemberScanner {
    /// Where the object is: a key, one in the object there, …
    path: &'static [&'static str],
    /// Keys of `path` whose objects the next byte is in.
    matched: usize,
    /// Brackets that are open.
    depth: usize,
    /// A string that is open, and whether its next byte is escaped.
    string: Option<bool>,
    place: Place,
    /// The last key, as it is written: with its quotes.
    key: Vec<u8>,
    value: Vec<u8>,
    rest: Vec<u8>,
    found: bool,
}

/// Next part of an object that the path leads through, or leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Key,
    /// A key after a comma.
    NextKey,
    Colon,
    Value,
}

/// A member of the object: its key as it is written, with quotes, and its value.
pub type Member<'a> = (&'a [u8], &'a [u8]);

impl MemberScanner {
    /// Looks for the object at `path`.
    pub fn new(path: &'static [&'static str]) -> Self {
        Self {
            path,
            matched: 0,
            depth: 0,
            string: None,
            place: Place::Value,
            key: Vec::new(),
            value: Vec::new(),
            rest: Vec::new(),
            found: false,
        }
    }

    /// Takes the next bytes, and tells each member that has come to its end. Fails with a reason.
    pub fn feed<E: From<String>>(
        &mut self,
        bytes: &[u8],
        mut member: impl FnMut(Member<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for piece in bytes.chunks(PIECE_BYTES) {
            for &byte in piece {
                self.take(byte, &mut member)?;
            }
            if self.rest.len().max(self.value.len()).max(self.key.len()) > DOCUMENT_BYTES_MAX {
                let reason = format!("a part of it has more than {DOCUMENT_BYTES_MAX} bytes");
                return Err(reason.into());
            }
        }
        Ok(())
    }

    /// The document without those members, and whether the object was there.
    pub fn finish(self) -> (Vec<u8>, bool) {
        (self.rest, self.found)
    }

    /// True in an object of the path, beside all objects in it.
    fn is_tracked(&self) -> bool {
        self.depth == self.matched + 1
    }

    /// True in the object that is looked for.
    fn is_inside(&self) -> bool {
        self.matched == self.path.len()
    }

    fn take<E: From<String>>(
        &mut self,
        byte: u8,
        member: &mut impl FnMut(Member<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(is_escaped) = self.string {
            self.put(byte);
            self.string = match (byte, is_escaped) {
                (b'"', false) => None,
                (b'\\', false) => Some(true),
                _ => Some(false),
            };
            let is_key = matches!(self.place, Place::Key | Place::NextKey);
            if self.string.is_none() && self.is_tracked() && is_key {
                self.place = Place::Colon;
            }
            return Ok(());
        }
        match byte {
            b'"' => {
                if self.is_tracked() && matches!(self.place, Place::Key | Place::NextKey) {
                    self.key.clear();
                }
                self.put(byte);
                self.string = Some(false);
            }
            b':' if self.is_tracked() && self.place == Place::Colon => {
                self.put(byte);
                self.place = Place::Value;
            }
            b'{' | b'[' | b',' if self.is_misplaced(byte) => {
                return Err("not valid JSON: a member begins with no key".to_owned().into());
            }
            b',' if self.is_tracked() => {
                self.end_member(member)?;
                if !self.is_inside() {
                    self.rest.push(byte);
                }
                self.place = Place::NextKey;
            }
            b'{' => {
                let leads_on = self.is_tracked()
                    && self.place == Place::Value
                    && self.path.get(self.matched).is_some_and(|name| self.key_is(name));
                self.put(byte);
                if self.depth == 0 {
                    self.place = Place::Key;
                } else if leads_on {
                    self.matched += 1;
                    self.found |= self.is_inside();
                    self.place = Place::Key;
                }
                self.depth += 1;
            }
            b'[' => {
                self.put(byte);
                self.depth += 1;
            }
            b'}' if self.is_tracked() && self.matched > 0 => {
                self.end_member(member)?;
                self.matched -= 1;
                self.depth = self.depth.saturating_sub(1);
                self.place = Place::Value;
                self.key.clear();
                self.put(byte);
            }
            b'}' | b']' => {
                self.put(byte);
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {
                let is_misplaced =
                    self.is_inside() && self.is_tracked() && self.place != Place::Value;
                if is_misplaced && !byte.is_ascii_whitespace() {
                    return Err("not valid JSON: a key is expected".to_owned().into());
                }
                self.put(byte);
            }
        }
        Ok(())
    }

    /// True for a byte that is no key, where a key is to come.
    fn is_misplaced(&self, byte: u8) -> bool {
        let wants_value = match byte {
            b',' => self.place != Place::Key,
            _ => self.place == Place::Value,
        };
        self.is_inside() && self.is_tracked() && !wants_value
    }

    /// Ends a member of the object that is looked for.
    fn end_member<E: From<String>>(
        &mut self,
        member: &mut impl FnMut(Member<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.is_inside() {
            return Ok(());
        }
        match self.place {
            Place::Key => Ok(()),
            Place::Value => {
                let told = member((&self.key, self.value.trim_ascii()));
                self.key.clear();
                self.value.clear();
                told
            }
            Place::NextKey | Place::Colon => {
                Err("not valid JSON: a member has no value".to_owned().into())
            }
        }
    }

    /// Puts a byte where it belongs: to a key, to the value of a member, or to the rest.
    fn put(&mut self, byte: u8) {
        let is_of_key = self.is_tracked()
            && matches!(self.place, Place::Key | Place::NextKey)
            && (self.string.is_some() || byte == b'"');
        if is_of_key {
            self.key.push(byte);
        }
        if !self.is_inside() {
            self.rest.push(byte);
        } else if !self.is_tracked() || self.place == Place::Value {
            self.value.push(byte);
        }
    }

    fn key_is(&self, name: &str) -> bool {
        serde_json::from_slice::<String>(&self.key).is_ok_and(|key| key == name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;

    const PATH: &[&str] = &["outer", "inner"];

    type Split = (Vec<(String, String)>, String, bool);

    fn split(text: &str, piece: usize) -> Result<Split, String> {
        let mut scanner = MemberScanner::new(PATH);
        let mut members = Vec::new();
        for bytes in text.as_bytes().chunks(piece) {
            scanner.feed(bytes, |(key, value)| {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                members.push((text(key), text(value)));
                Ok::<_, String>(())
            })?;
        }
        let (rest, found) = scanner.finish();
        Ok((members, String::from_utf8(rest).unwrap(), found))
    }

    #[test]
    fn members_are_told_and_the_rest_is_kept() {
        let text = r#" {"inner": {"no": 1}, "outer" : {"a": ["{\"", {"inner": {}}], "inner": { "x\"y" : {"k": [1, {}]} ,
            "z": NaN, "e": "}," }, "b": 2}, "list": [{"outer": {"inner": {"no": 1}}}]} "#;
        for piece in [1, 2, 7, 10_000] {
            let (members, rest, found) = split(text, piece).unwrap();
            let told: Vec<_> = members.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            let expected =
                [(r#""x\"y""#, r#"{"k": [1, {}]}"#), (r#""z""#, "NaN"), (r#""e""#, r#""},""#)];
            assert_eq!(told, expected);
            let rest: Value = serde_json::from_str(&rest).unwrap();
            let expected = json!({
                "inner": {"no": 1}, "outer": {"a": ["{\"", {"inner": {}}], "inner": {}, "b": 2},
                "list": [{"outer": {"inner": {"no": 1}}}]
            });
            assert!(found && rest == expected, "{rest}");
        }
    }

    #[test]
    fn documents_without_the_object_stay_as_they_are() {
        for text in [
            "",
            "[]",
            "null",
            "{",
            "{}",
            r#"{"outer": 1}"#,
            r#"{"outer": {"inner": []}}"#,
            r#"[{"outer": {"inner": {"a": 1}}}]"#,
            r#"{"a": {"outer": {"inner": {"a": 1}}}}"#,
        ] {
            assert_eq!(split(text, 3).unwrap(), (Vec::new(), text.to_owned(), false), "{text}");
        }
    }

    #[test]
    fn what_is_no_list_of_members_is_refused() {
        for members in [
            ",",
            r#""a""#,
            r#""a" 1"#,
            "1",
            r#""a": 1,"#,
            r#", "a": 1"#,
            r#""a": 1, 2"#,
            "{}",
            "{}: 1",
            "[]",
            r#""a" {}"#,
        ] {
            let text = format!(r#"{{"outer": {{"inner": {{{members}}}}}}}"#);
            assert!(split(&text, 5).is_err(), "{text}");
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<i32>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let list = proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
            let keys = prop_oneof![Just("inner".to_owned()), Just("outer".to_owned()), ".{0,3}"];
            let object = proptest::collection::btree_map(keys, inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect()));
            prop_oneof![list, object]
        })
    }

    proptest! {
        #[test]
        fn members_and_rest_make_the_document(
            before in value(), beside in value(), pretty: bool, piece in 1..40_usize,
            members in proptest::collection::btree_map(".{0,4}", value(), 0..5),
        ) {
            let inner: Map<String, Value> = members.clone().into_iter().collect();
            let of = |inner: Value| json!({"a": before, "outer": {"b": beside, "inner": inner}});
            let document = of(Value::Object(inner));
            let write = if pretty { serde_json::to_string_pretty } else { serde_json::to_string };
            let (told, rest, found) = split(&write(&document).unwrap(), piece).unwrap();
            let told: Map<String, Value> = told.iter().map(|(key, value)| {
                (serde_json::from_str(key).unwrap(), serde_json::from_str(value).unwrap())
            }).collect();
            prop_assert_eq!(Value::Object(told), document["outer"]["inner"].clone());
            prop_assert_eq!(serde_json::from_str::<Value>(&rest).unwrap(), of(json!({})));
            prop_assert!(found);
        }
    }
}
