//! The footer of a Parquet file: which fields it may have, of which kinds.
//!
//! The crate that reads it takes what it knows for what it should be, whatever kind it says it is;
//! and it passes over lists of booleans one by one, though they take no bytes: six of them keep it
//! busy for seconds. So a footer is passed over here before, and is to be as the format says
//! (parquet-format 2.12, `parquet.thrift`).

use super::fault::Fault;
use super::thrift::{DOUBLE, FALSE, LIST, LONG, SHORT, STRUCT, TEXT, TRUE, Thrift};

/// Most bytes of a footer, which takes some hundred times as many when it is read.
const FOOTER_BYTES_MAX: usize = 1 << 20;
/// Behind it are its length in four bytes and four more that say what it is.
const LENGTH_BYTES: usize = 4;
const MAGIC_BYTES: usize = 4;

/// Field of the footer: columns and groups of them.
const SCHEMA: i64 = 2;

/// Type of a field. Numbers of 16, 32 and 64 bits are written alike, and fastparquet mixes them. Of
/// structs those fields are named that may be known to a reader.
enum Is {
    Number,
    Value(u8),
    Boolean,
    Numbers,
    Texts,
    Struct(Fields),
    Structs(Fields),
    /// Structs with one struct in each, and nothing in that.
    Units,
}

type Fields = &'static [(i64, Is)];

const FOOTER: Fields = &[
    (1, Is::Number),
    (3, Is::Number),
    (4, Is::Structs(ROW_GROUP)),
    (5, Is::Structs(KEY_VALUE)),
    (6, Is::Value(TEXT)),
    (7, Is::Units),
    (8, Is::Struct(&[])),
    (9, Is::Value(TEXT)),
];
const ROW_GROUP: Fields = &[
    (1, Is::Structs(COLUMN_CHUNK)),
    (2, Is::Number),
    (3, Is::Number),
    (4, Is::Structs(&[(1, Is::Number), (2, Is::Boolean), (3, Is::Boolean)])),
    (5, Is::Number),
    (6, Is::Number),
    (7, Is::Number),
];
const COLUMN_CHUNK: Fields = &[
    (1, Is::Value(TEXT)),
    (2, Is::Number),
    (3, Is::Struct(COLUMN)),
    (4, Is::Number),
    (5, Is::Number),
    (6, Is::Number),
    (7, Is::Number),
    (8, Is::Struct(&[])),
    (9, Is::Value(TEXT)),
];
const COLUMN: Fields = &[
    (1, Is::Number),
    (2, Is::Numbers),
    (3, Is::Texts),
    (4, Is::Number),
    (5, Is::Number),
    (6, Is::Number),
    (7, Is::Number),
    (8, Is::Structs(KEY_VALUE)),
    (9, Is::Number),
    (10, Is::Number),
    (11, Is::Number),
    (12, Is::Struct(STATISTICS)),
    (13, Is::Structs(&[(1, Is::Number), (2, Is::Number), (3, Is::Number)])),
    (14, Is::Number),
    (15, Is::Number),
    (16, Is::Struct(&[(1, Is::Number), (2, Is::Numbers), (3, Is::Numbers)])),
    (17, Is::Struct(&[(1, Is::Struct(BOX)), (2, Is::Numbers)])),
];
const STATISTICS: Fields = &[
    (1, Is::Value(TEXT)),
    (2, Is::Value(TEXT)),
    (3, Is::Number),
    (4, Is::Number),
    (5, Is::Value(TEXT)),
    (6, Is::Value(TEXT)),
    (7, Is::Boolean),
    (8, Is::Boolean),
    (9, Is::Number),
];
const BOX: Fields = &[
    (1, Is::Value(DOUBLE)),
    (2, Is::Value(DOUBLE)),
    (3, Is::Value(DOUBLE)),
    (4, Is::Value(DOUBLE)),
    (5, Is::Value(DOUBLE)),
    (6, Is::Value(DOUBLE)),
    (7, Is::Value(DOUBLE)),
    (8, Is::Value(DOUBLE)),
];
const KEY_VALUE: Fields = &[(1, Is::Value(TEXT)), (2, Is::Value(TEXT))];

/// Returns the result of `nodes` on the list of columns in the footer of `bytes`, if all else in it
/// is in order.
pub(super) fn of_footer<'a, T>(
    bytes: &'a [u8],
    nodes: impl Fn(&mut Thrift<'a>) -> Option<T>,
) -> Result<T, Fault> {
    let footer = footer(bytes).ok_or(Fault::Pages)?;
    let mut found = None;
    let passed = Thrift { bytes: footer, at: 0 }.fields(|rest, id, kind| {
        if (id, kind) == (SCHEMA, LIST) {
            found = Some(nodes(rest)?);
            return Some(());
        }
        let known = (id != SCHEMA).then(|| FOOTER.iter().find(|(known, _)| *known == id))?;
        field(rest, known.map(|(_, is)| is), kind)
    });
    found.filter(|_| passed.is_some()).ok_or(Fault::Footer)
}

fn footer(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.len().checked_sub(LENGTH_BYTES + MAGIC_BYTES)?;
    let length = bytes.get(end..end + LENGTH_BYTES)?.try_into().ok()?;
    let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
    (length <= FOOTER_BYTES_MAX).then_some(())?;
    bytes.get(end.checked_sub(length)?..end)
}

/// Passes over a field that is known to be something, or over one that nobody knows.
fn field(rest: &mut Thrift<'_>, known: Option<&Is>, kind: u8) -> Option<()> {
    let Some(known) = known else { return rest.value(kind) };
    match (known, kind) {
        (Is::Number, SHORT..=LONG) => rest.value(kind),
        (&Is::Value(wanted), kind) if kind == wanted => rest.value(kind),
        (Is::Boolean, TRUE | FALSE) => Some(()),
        (Is::Numbers | Is::Texts, LIST) => {
            let (of, count) = rest.list()?;
            let fits =
                if matches!(known, Is::Texts) { of == TEXT } else { (SHORT..=LONG).contains(&of) };
            (fits || count == 0).then_some(())?;
            (0..count).try_for_each(|_| rest.value(of))
        }
        (Is::Struct(fields), STRUCT) => of_struct(rest, fields),
        (Is::Structs(fields), LIST) => {
            let count = rest.structs()?;
            (0..count).try_for_each(|_| of_struct(rest, fields))
        }
        (Is::Units, LIST) => {
            let count = rest.structs()?;
            let empty = |rest: &mut Thrift<'_>, kind| {
                (kind == STRUCT).then(|| rest.fields(|_, _, _| None)).flatten()
            };
            (0..count).try_for_each(|_| rest.fields(|rest, _, kind| empty(rest, kind)))
        }
        _ => None,
    }
}

fn of_struct(rest: &mut Thrift<'_>, fields: Fields) -> Option<()> {
    rest.fields(|rest, id, kind| {
        let known = fields.iter().find(|(known, _)| *known == id);
        field(rest, known.map(|(_, is)| is), kind)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with an empty list of columns, and `rest` behind that in its footer.
    fn file(rest: &[u8]) -> Vec<u8> {
        let footer = [&[0x15, 4, 0x19, 0x0c], rest, &[0]].concat();
        let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
        [b"PAR1", &footer[..], &length, b"PAR1"].concat()
    }

    fn is_read(rest: &[u8]) -> bool {
        of_footer(&file(rest), |nodes| nodes.structs().filter(|&count| count == 0)).is_ok()
    }

    #[test]
    fn what_the_format_has_is_passed_over() {
        // Rows, a group of no columns, sorted by one, its number; a key and its value; who has
        // written it.
        let group = [0x19, 0x0c, 0x16, 2, 0x16, 2, 0x19, 0x1c, 0x15, 0, 0x11, 0x12, 0, 0x34, 0, 0];
        let keys = [0x19, 0x1c, 0x18, 1, b'k', 0x18, 1, b'v', 0, 0x18, 2, b'm', b'e'];
        assert!(is_read(&[&[0x16, 2, 0x19, 0x1c][..], &group, &keys].concat()));
        // How two columns are sorted.
        assert!(is_read(&[0x59, 0x2c, 0x1c, 0, 0, 0x3c, 0, 0]));
        // A field of a later time, with a struct, and the number that is for extensions.
        assert!(is_read(&[0xdc, 0x11, 0x12, 0, 0x08, 0xfe, 0xff, 3, 1, b'x']));
        assert!(is_read(&[]));
    }

    #[test]
    fn what_another_reader_takes_for_something_else_is_refused() {
        for (rest, why) in [
            (&[0x18, 0][..], "a text for the number of rows"),
            (&[0xd9, 0xf1, 0xff, 0xff, 0xff, 0xff, 7], "2³¹ booleans in no bytes"),
            (&[0x29, 0x1c, 0x19, 0x11, 0, 0], "booleans for columns"),
            (&[0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 7], "more groups than there are bytes"),
            (&[0x09, 4, 0x0c], "columns once more"),
            (&[0x48, 5, 1], "a text that ends behind the footer"),
            (&[0xdb, 1, 0x11], "a map"),
            (
                &[0x59, 0x1c, 0x37, 0, 0, 0x49, 0xf1, 0xff, 0xff, 0xff, 0x7f, 0, 0],
                "an order that is a number",
            ),
            (&[0x59, 0x1c, 0x1c, 0x15, 2, 0, 0], "an order that has something"),
            (&[0x08, 0x80, 0x80, 4, 0], "the number of a field in 17 bits"),
        ] {
            assert!(!is_read(rest), "{why}");
        }
    }
}
