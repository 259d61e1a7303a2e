//! A Parquet file of references: a row for each chunk, with a path, an offset, a size, or the bytes
//! themselves.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::{ReadOptionsBuilder, SerializedFileReader};

use super::document::decode;
use super::fault::Fault;
use super::limits::{ROWS_MAX, URL_BYTES_MAX};
use super::odd::Odd;
use super::pages::unpacked_bytes;
use super::schema::schema;
use crate::length::wide;
use crate::referred::cache::Held;
use crate::referred::found::Found;

/// Most bytes of a file, of its pages once they are unpacked, and of the names and values that rows
/// of it have.
pub(super) const FILE_BYTES_MAX: u64 = 64 << 20;

/// Stands for "no such chunk", and for "in the file itself", where the number of a file would be.
const MISSING: u32 = u32::MAX;
const INLINE: u32 = u32::MAX - 1;
/// Stands for "it cannot be read" there; the start is that of the reason.
const ODD: u32 = u32::MAX - 2;
/// Stands for "the file as a whole" where a length would be.
const WHOLE: u64 = u64::MAX;

/// Contents of a file.
#[derive(Debug, Default)]
pub(super) struct Partition {
    rows: Vec<Row>,
    urls: Vec<Arc<str>>,
    inline: Bytes,
    urls_bytes: usize,
    odd: Odd,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    url: u32,
    start: u64,
    length: u64,
}

/// The columns of a file.
#[derive(Default)]
struct Columns {
    path: Option<Vec<Option<ByteArray>>>,
    offset: Option<Vec<u64>>,
    size: Option<Vec<u64>>,
    raw: Option<Vec<Option<ByteArray>>>,
}

impl Partition {
    /// Reads a file. Blocks.
    pub(super) fn read(bytes: &Bytes) -> Result<Self, Fault> {
        let schema = schema(bytes)?;
        let columns_count = schema.num_columns();
        let options = ReadOptionsBuilder::new().with_parquet_schema(schema).build();
        let file = SerializedFileReader::new_with_options(bytes.clone(), options);
        let file = file.map_err(Fault::parquet)?;
        let mut partition = Self::default();
        let mut numbers = HashMap::new();
        let mut inline = Vec::new();
        let mut unpacked = 0_u64;
        for group in 0..file.num_row_groups() {
            let group = file.get_row_group(group).map_err(Fault::parquet)?;
            let rows = u64::try_from(group.metadata().num_rows()).unwrap_or(u64::MAX);
            // There are twice as many where a group has two lists of them.
            if group.num_columns() != columns_count {
                return Err(Fault::Columns);
            }
            if rows.saturating_add(wide(partition.rows.len())) > ROWS_MAX {
                return Err(Fault::Rows { limit: ROWS_MAX });
            }
            let columns = Columns::read(&*group, rows, bytes, &mut unpacked)?;
            let rows = usize::try_from(rows).unwrap_or(usize::MAX);
            partition.add(&columns, rows, &mut numbers, &mut inline)?;
        }
        partition.inline = inline.into();
        Ok(partition)
    }

    fn add(
        &mut self,
        columns: &Columns,
        rows: usize,
        numbers: &mut HashMap<Arc<str>, u32>,
        inline: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        for row in 0..rows {
            let kept = inline.len();
            let added = match self.row(columns, row, numbers, inline) {
                Err(Fault::Value { key, what }) => {
                    inline.truncate(kept);
                    let what = format!("its row has a {key:?}, and {what}");
                    Row { url: ODD, start: self.odd.add(&key, &what), length: 0 }
                }
                added => added?,
            };
            self.rows.push(added);
        }
        Ok(())
    }

    fn row(
        &mut self,
        columns: &Columns,
        row: usize,
        numbers: &mut HashMap<Arc<str>, u32>,
        inline: &mut Vec<u8>,
    ) -> Result<Row, Fault> {
        let of = |column: &Option<Vec<Option<ByteArray>>>| {
            column.as_ref().and_then(|column| column.get(row)?.clone())
        };
        let number = |column: &Option<Vec<u64>>| {
            column.as_ref().and_then(|column| column.get(row).copied()).unwrap_or(0)
        };
        let (offset, size) = (number(&columns.offset), number(&columns.size));
        if let Some(raw) = of(&columns.raw) {
            self.check_room(inline.len(), raw.len())?;
            let start = inline.len();
            decode("raw", raw.data(), inline)?;
            return Ok(Row { url: INLINE, start: wide(start), length: wide(inline.len() - start) });
        }
        let Some(path) = of(&columns.path) else {
            return Ok(Row { url: MISSING, start: 0, length: 0 });
        };
        let url = self.url(&path, inline.len(), numbers)?;
        let is_whole = offset == 0 && size == 0;
        if offset.checked_add(size).is_none_or(|end| end == WHOLE) {
            return Err(Fault::value("size", "its range begins below 0 or ends beyond any file"));
        }
        Ok(Row { url, start: offset, length: if is_whole { WHOLE } else { size } })
    }

    fn url(
        &mut self,
        path: &ByteArray,
        inline_bytes: usize,
        numbers: &mut HashMap<Arc<str>, u32>,
    ) -> Result<u32, Fault> {
        let text = std::str::from_utf8(path.data()).ok().filter(|text| text.len() <= URL_BYTES_MAX);
        let text = text.ok_or_else(|| Fault::value("path", "it is no text, or a long one"))?;
        if let Some(&number) = numbers.get(text) {
            return Ok(number);
        }
        let number = u32::try_from(self.urls.len()).unwrap_or(MISSING);
        self.check_room(inline_bytes, text.len())?;
        self.urls_bytes += text.len() + 32;
        let text: Arc<str> = text.into();
        self.urls.push(Arc::clone(&text));
        numbers.insert(text, number);
        Ok(number)
    }

    /// That so many more bytes may be kept. Of a value in a dictionary every row has one of its own
    /// here.
    fn check_room(&self, inline_bytes: usize, more_bytes: usize) -> Result<(), Fault> {
        let bytes = wide(self.urls_bytes + inline_bytes).saturating_add(wide(more_bytes));
        if bytes > FILE_BYTES_MAX {
            return Err(Fault::Unpacked { limit_bytes: FILE_BYTES_MAX });
        }
        Ok(())
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Target of a row; `None` if it is there and says that there is no such chunk.
    pub(super) fn found(&self, row: usize) -> Option<Found> {
        let Row { url, start, length } = *self.rows.get(row)?;
        if url == ODD {
            return Some(Found::Odd(self.odd.reason(start).into()));
        }
        if url == INLINE {
            let range = usize::try_from(start).ok()?..usize::try_from(start + length).ok()?;
            return Some(Found::Inline(self.inline.slice(range)));
        }
        let url = Arc::clone(self.urls.get(usize::try_from(url).ok()?)?);
        let range: Option<Range<u64>> = (length != WHOLE).then(|| start..start + length);
        Some(Found::File { url, range, condition: None })
    }

    /// A file that references lead to, if there is one.
    pub(super) fn a_file(&self) -> Option<&str> {
        self.urls.first().map(AsRef::as_ref)
    }
}

impl Held for Partition {
    fn held_bytes(&self) -> usize {
        self.rows.len() * size_of::<Row>() + self.urls_bytes + self.inline.len()
    }
}

impl Columns {
    /// Reads the columns of a group that are known, and no others.
    fn read(
        group: &dyn RowGroupReader,
        rows: u64,
        bytes: &Bytes,
        unpacked: &mut u64,
    ) -> Result<Self, Fault> {
        let mut columns = Self::default();
        for number in 0..group.num_columns() {
            let column = group.metadata().column(number);
            let name = column.column_path().string();
            if !matches!(name.as_str(), "path" | "offset" | "size" | "raw") {
                continue;
            }
            let descriptor = column.column_descr();
            if descriptor.max_rep_level() > 0 || descriptor.max_def_level() > 1 {
                return Err(Fault::Column { name, what: "is a list" });
            }
            // The crate's own `byte_range` panics where one of these is below 0.
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let end = start.checked_add(column.compressed_size());
            let narrow = |number: i64| usize::try_from(number).ok();
            let range = narrow(start).zip(end.and_then(narrow)).map(|(start, end)| start..end);
            let stored = range.and_then(|range| bytes.get(range)).ok_or(Fault::Pages)?;
            *unpacked = unpacked.saturating_add(unpacked_bytes(stored)?);
            if *unpacked > FILE_BYTES_MAX {
                return Err(Fault::Unpacked { limit_bytes: FILE_BYTES_MAX });
            }
            let is_optional = descriptor.max_def_level() == 1;
            let rows = usize::try_from(rows).unwrap_or(usize::MAX);
            let reader = group.get_column_reader(number).map_err(Fault::parquet)?;
            columns.add(&name, reader, rows, is_optional)?;
        }
        Ok(columns)
    }

    fn add(
        &mut self,
        name: &str,
        reader: ColumnReader,
        rows: usize,
        is_optional: bool,
    ) -> Result<(), Fault> {
        let wrong = |what| Fault::Column { name: name.to_owned(), what };
        match (name, reader) {
            ("path", ColumnReader::ByteArrayColumnReader(reader)) => {
                self.path = Some(all(reader, rows, is_optional, name)?);
            }
            ("raw", ColumnReader::ByteArrayColumnReader(reader)) => {
                self.raw = Some(all(reader, rows, is_optional, name)?);
            }
            // A column in which nothing is has any type.
            ("path" | "raw", ColumnReader::Int32ColumnReader(reader)) => {
                nothing(&all(reader, rows, is_optional, name)?, || wrong("is of numbers"))?;
            }
            ("path" | "raw", ColumnReader::DoubleColumnReader(reader)) => {
                nothing(&all(reader, rows, is_optional, name)?, || wrong("is of numbers"))?;
            }
            ("offset" | "size", ColumnReader::Int64ColumnReader(reader)) => {
                let numbers = all(reader, rows, is_optional, name)?;
                self.set(name, numbers.into_iter().map(size).collect());
            }
            ("offset" | "size", ColumnReader::Int32ColumnReader(reader)) => {
                let numbers = all(reader, rows, is_optional, name)?;
                self.set(name, numbers.into_iter().map(size).collect());
            }
            _ => return Err(wrong("is of a type that it should not have")),
        }
        Ok(())
    }

    fn set(&mut self, name: &str, sizes: Vec<u64>) {
        *(if name == "offset" { &mut self.offset } else { &mut self.size }) = Some(sizes);
    }
}

/// A number of a column; one below 0 is beyond any file.
fn size(number: Option<impl TryInto<u64>>) -> u64 {
    number.map_or(0, |number| number.try_into().unwrap_or(u64::MAX))
}

fn nothing<T>(values: &[Option<T>], fault: impl Fn() -> Fault) -> Result<(), Fault> {
    if values.iter().all(Option::is_none) { Ok(()) } else { Err(fault()) }
}

/// All values of a column, as many as the file says that it has rows.
fn all<T: parquet::data_type::DataType>(
    mut reader: parquet::column::reader::ColumnReaderImpl<T>,
    rows: usize,
    is_optional: bool,
    name: &str,
) -> Result<Vec<Option<T::T>>, Fault> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut read = 0;
    while read < rows {
        let levels = is_optional.then_some(&mut levels);
        let (records, ..) =
            reader.read_records(rows - read, levels, None, &mut values).map_err(Fault::parquet)?;
        if records == 0 {
            break;
        }
        read += records;
    }
    let mut values = values.into_iter();
    let column: Vec<Option<T::T>> = if is_optional {
        levels.into_iter().map(|level| if level == 0 { None } else { values.next() }).collect()
    } else {
        values.map(Some).collect()
    };
    if column.len() == rows {
        return Ok(column);
    }
    Err(Fault::Column { name: name.to_owned(), what: "has fewer values than the file has rows" })
}

#[cfg(test)]
mod tests {
    use parquet::basic::Encoding;
    use parquet::data_type::ByteArrayType;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    /// A file whose rows have `values` in themselves.
    fn written(values: &[ByteArray], encoding: Option<Encoding>) -> Bytes {
        let schema = parse_message_type("message m { required binary raw; }").unwrap();
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(encoding.is_none())
            .set_dictionary_page_size_limit(1 << 30)
            .set_encoding(encoding.unwrap_or(Encoding::PLAIN));
        let properties = Arc::new(properties.build());
        let mut file = SerializedFileWriter::new(Vec::new(), schema.into(), properties).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(values, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        file.into_inner().unwrap().into()
    }

    #[test]
    fn values_that_rows_share_are_counted_for_each_of_them() {
        let long = ByteArray::from(vec![b'x'; 8 << 20]);
        let fits = Partition::read(&written(&vec![long.clone(); 3], None)).unwrap();
        assert!(matches!(fits.found(2), Some(Found::Inline(bytes)) if bytes.len() == 8 << 20));
        let error = Partition::read(&written(&vec![long; 33], None)).unwrap_err();
        assert!(matches!(error, Fault::Unpacked { .. }), "{error}");
    }

    #[test]
    fn a_row_that_is_wrong_is_no_missing_one_and_the_others_are_read() {
        let values = [ByteArray::from("x"), ByteArray::from("base64:*"), ByteArray::from("y")];
        let read = Partition::read(&written(&values, None)).unwrap();
        let reason = |row| match read.found(row) {
            Some(Found::Odd(reason)) => Some(reason.to_string()),
            _ => None,
        };
        assert_eq!((reason(0), reason(2)), (None, None));
        let reason = reason(1).unwrap();
        assert!(reason.contains("\"raw\"") && reason.contains("base64"), "{reason}");
        assert_eq!(read.inline, Bytes::from_static(b"xy"), "nothing is kept of it");
        assert_eq!(size(Some(-1_i64)), u64::MAX);
    }

    #[test]
    fn values_by_their_differences_are_not_read() {
        let values = vec![ByteArray::from("x"); 3];
        Partition::read(&written(&values, Some(Encoding::PLAIN))).unwrap();
        for encoding in [Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY] {
            let error = Partition::read(&written(&values, Some(encoding))).unwrap_err();
            assert!(matches!(error, Fault::Encoding), "{error}");
        }
    }
}
