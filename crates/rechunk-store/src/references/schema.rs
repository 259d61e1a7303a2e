//! The columns of a Parquet file, from its footer.
//!
//! The crate that reads the rest asks for as much memory as a group of columns says it has of them,
//! and goes into groups inside of groups without end. So it is told what columns there are, and
//! does not read them.

use std::sync::Arc;

use parquet::basic::{Repetition, Type as Kind};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};

use super::fault::Fault;
use super::footer::of_footer;
use super::thrift::{LONG, SHORT, TEXT, Thrift};

/// Most columns and groups of them. References have four columns.
const NODES_MAX: u64 = 1024;
/// Deepest nesting of groups.
const DEPTH_MAX: usize = 16;

/// Fields of a column or a group.
const KIND: i64 = 1;
const LENGTH: i64 = 2;
const REPETITION: i64 = 3;
const NAME: i64 = 4;
const CHILDREN: i64 = 5;

/// A column, or a group of those behind it.
#[derive(Default)]
struct Node<'a> {
    kind: Option<u64>,
    length: Option<i64>,
    repetition: Option<u64>,
    name: Option<&'a str>,
    children: Option<u64>,
}

/// The columns of the file `bytes`.
pub(super) fn schema(bytes: &[u8]) -> Result<SchemaDescPtr, Fault> {
    let nodes = of_footer(bytes, nodes)?;
    let mut rest = nodes.iter();
    let root = rest.next().ok_or(Fault::Columns)?;
    let root = Type::group_type_builder(root.name.unwrap_or_default())
        .with_fields(children(root, &mut rest, DEPTH_MAX)?)
        .build()
        .map_err(Fault::parquet)?;
    if rest.next().is_some() {
        return Err(Fault::Columns);
    }
    Ok(Arc::new(SchemaDescriptor::new(Arc::new(root))))
}

/// The columns and groups, each group before what is in it.
fn nodes<'a>(bytes: &mut Thrift<'a>) -> Option<Vec<Node<'a>>> {
    let count = bytes.structs().filter(|&count| count <= NODES_MAX)?;
    (0..count).map(|_| node(bytes)).collect()
}

fn node<'a>(bytes: &mut Thrift<'a>) -> Option<Node<'a>> {
    let mut node = Node::default();
    bytes.fields(|rest, id, kind| {
        match (id, kind) {
            (KIND, SHORT..=LONG) => node.kind = Some(rest.size()?),
            (LENGTH, SHORT..=LONG) => node.length = Some(rest.number()?),
            (REPETITION, SHORT..=LONG) => node.repetition = Some(rest.size()?),
            (NAME, TEXT) => node.name = Some(std::str::from_utf8(rest.text()?).ok()?),
            (CHILDREN, SHORT..=LONG) => node.children = Some(rest.size()?),
            (KIND..=CHILDREN, _) => return None,
            (_, kind) => rest.value(kind)?,
        }
        Some(())
    })?;
    Some(node)
}

/// Types in a group.
fn children<'a>(
    group: &Node<'_>,
    rest: &mut impl Iterator<Item = &'a Node<'a>>,
    depth: usize,
) -> Result<Vec<Arc<Type>>, Fault> {
    let depth = depth.checked_sub(1).ok_or(Fault::Columns)?;
    let mut children = Vec::new();
    for _ in 0..group.children.unwrap_or(0) {
        let node = rest.next().ok_or(Fault::Columns)?;
        children.push(Arc::new(of_node(node, rest, depth)?));
    }
    Ok(children)
}

fn of_node<'a>(
    node: &Node<'_>,
    rest: &mut impl Iterator<Item = &'a Node<'a>>,
    depth: usize,
) -> Result<Type, Fault> {
    let name = node.name.ok_or(Fault::Columns)?;
    let repetition = match node.repetition {
        Some(0) => Repetition::REQUIRED,
        Some(1) => Repetition::OPTIONAL,
        Some(2) => Repetition::REPEATED,
        _ => return Err(Fault::Columns),
    };
    // Some write of a column that it has no children.
    let Some(kind) = node.kind.filter(|_| node.children.unwrap_or(0) == 0) else {
        let group = Type::group_type_builder(name).with_repetition(repetition);
        return group.with_fields(children(node, rest, depth)?).build().map_err(Fault::parquet);
    };
    let kind = match kind {
        0 => Kind::BOOLEAN,
        1 => Kind::INT32,
        2 => Kind::INT64,
        3 => Kind::INT96,
        4 => Kind::FLOAT,
        5 => Kind::DOUBLE,
        6 => Kind::BYTE_ARRAY,
        7 => Kind::FIXED_LEN_BYTE_ARRAY,
        _ => return Err(Fault::Columns),
    };
    let length = node.length.map_or(Ok(-1), i32::try_from).map_err(|_| Fault::Columns)?;
    let column = Type::primitive_type_builder(name, kind).with_repetition(repetition);
    column.with_length(length).build().map_err(Fault::parquet)
}

#[cfg(test)]
mod tests {
    use super::super::thrift::varint;
    use super::*;
    use crate::length::wide;

    /// A file that has only these columns and groups in its footer: name, kind, children.
    fn file(nodes: &[(&str, Option<u8>, Option<u32>)]) -> Vec<u8> {
        let mut footer = vec![0x15, 4, 0x19, 0xfc];
        footer.extend(varint(wide(nodes.len())));
        for (name, kind, children) in nodes {
            footer.extend(kind.iter().flat_map(|kind| [0x15, kind << 1]));
            footer.extend([0x05, 6, 2, 0x18]);
            footer.extend(varint(wide(name.len())));
            footer.extend(name.as_bytes());
            footer.extend(
                children.iter().flat_map(|&n| [vec![0x15], varint(u64::from(n) << 1)].concat()),
            );
            footer.push(0);
        }
        footer.push(0);
        let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
        [b"PAR1", &footer[..], &length, b"PAR1"].concat()
    }

    #[test]
    fn columns_and_columns_in_groups() {
        let found = schema(&file(&[
            ("root", None, Some(3)),
            ("path", Some(6), None),
            ("group", None, Some(2)),
            ("a", Some(1), Some(0)),
            ("b", Some(2), None),
            ("offset", Some(2), None),
        ]));
        let found = found.unwrap();
        let names: Vec<String> = found.columns().iter().map(|c| c.path().string()).collect();
        assert_eq!(names, ["path", "group.a", "group.b", "offset"]);
        assert_eq!(found.columns()[0].max_def_level(), 1);
        assert_eq!(schema(&file(&[("root", None, None)])).unwrap().num_columns(), 0);
    }

    #[test]
    fn more_columns_than_there_are_and_groups_without_end_are_refused() {
        let root = ("root", None, Some(1));
        let mut deep = vec![root; 100];
        deep.push(("a", Some(1), None));
        for nodes in [
            &[("root", None, Some(u32::MAX / 2)), ("a", Some(1), None)][..],
            &[root, ("a", Some(1), None), ("b", Some(1), None)],
            &[root, ("a", Some(8), None)],
            &[root, ("a", Some(7), None)],
            &[],
            &deep,
            &vec![("a", Some(1), None); 2000],
        ] {
            assert!(schema(&file(nodes)).is_err(), "{nodes:?}");
        }
        let whole = file(&[root, ("a", Some(1), None)]);
        for length in 0..whole.len() {
            assert!(schema(&whole[..length]).is_err(), "{length}");
        }
    }
}
