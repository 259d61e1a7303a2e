//! Header of NumPy's files: a Python dict of three members (NumPy's NEP 1).

use std::fmt::Write;
use std::io::{ErrorKind, Read};

use rechunk_grid::{DataType, RANK_MAX};

use crate::error::CommandError;
use crate::format::{FileFormat, npy_name};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The elements begin at a multiple of this.
const ALIGNMENT_BYTES: usize = 64;
/// Longest dict that is read, bytes. That of 32 axes has less than 1 KiB.
const DICT_BYTES_MAX: usize = 1 << 16;

/// Description of the elements of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    /// Byte order and type: `<u2`.
    pub descr: String,
    pub is_fortran: bool,
    pub shape: Vec<u64>,
}

/// Returns a header of version 1, which is long enough for 32 axes.
pub(super) fn encode(data_type: DataType, shape: &[u64]) -> Result<Vec<u8>, CommandError> {
    FileFormat::Npy.check_type(data_type)?;
    let name = npy_name(data_type).unwrap_or_default();
    let order = if data_type.item_bytes() == 1 { '|' } else { '<' };
    let mut dict = format!("{{'descr': '{order}{name}', 'fortran_order': False, 'shape': (");
    for extent in shape {
        let _ = write!(dict, "{extent}, ");
    }
    // One axis needs its comma; more may have it.
    dict.truncate(dict.trim_end().len());
    dict.push_str("), }");
    let before = MAGIC.len() + 4;
    let padded = (before + dict.len() + 1).next_multiple_of(ALIGNMENT_BYTES) - before;
    dict.extend(std::iter::repeat_n(' ', padded - dict.len() - 1));
    dict.push('\n');
    let length = u16::try_from(padded).unwrap_or(u16::MAX);
    Ok([MAGIC, &[1, 0][..], &length.to_le_bytes(), dict.as_bytes()].concat())
}

/// Reads a header, and returns its length in bytes. Reads no more than it.
pub(super) fn read(file: &mut impl Read) -> Result<(Header, usize), String> {
    let [start @ .., major, minor] = take::<8>(file)?;
    if &start != MAGIC {
        return Err("it is no .npy file".to_owned());
    }
    let (length, before) = match (major, minor) {
        (1, 0) => (u64::from(u16::from_le_bytes(take(file)?)), 10),
        (2, 0) => (u64::from(u32::from_le_bytes(take(file)?)), 12),
        _ => return Err(format!("it is an .npy file of version {major}.{minor}, not 1.0 or 2.0")),
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > DICT_BYTES_MAX {
        return Err(format!("its header has {length} bytes, at most {DICT_BYTES_MAX} are read"));
    }
    let mut dict = vec![0; length];
    file.read_exact(&mut dict).map_err(|error| short(&error))?;
    let dict = std::str::from_utf8(&dict).map_err(|_| "its header is no text".to_owned())?;
    let header = Cursor { rest: dict }.header();
    let header = header.ok_or_else(|| {
        let dict: String = dict.trim().chars().take(200).flat_map(char::escape_debug).collect();
        format!("its header is no description of an array: {dict}")
    })?;
    Ok((header, before + length))
}

fn take<const N: usize>(file: &mut impl Read) -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes).map_err(|error| short(&error)).map(|()| bytes)
}

fn short(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof => "it ends in its header; it is not whole".to_owned(),
        _ => super::output::unreadable(error),
    }
}

/// Rest of a dict that is being read.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    /// Reads the whole dict: each member once, and nothing else.
    fn header(mut self) -> Option<Header> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.token("{")?;
        while self.token("}").is_none() {
            let key = self.string()?;
            self.token(":")?;
            let is_new = match key {
                "descr" => descr.replace(self.string()?.to_owned()).is_none(),
                "fortran_order" => fortran.replace(self.boolean()?).is_none(),
                "shape" => shape.replace(self.shape()?).is_none(),
                _ => false,
            };
            if !is_new {
                return None;
            }
            if self.token(",").is_none() {
                self.token("}")?;
                break;
            }
        }
        self.rest.trim().is_empty().then_some(())?;
        Some(Header { descr: descr?, is_fortran: fortran?, shape: shape? })
    }

    /// Takes a token, and the blanks before it.
    fn token(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(token)?;
        Some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
        let (text, after) = rest[1..].split_once(quote)?;
        self.rest = after;
        (!text.contains('\\')).then_some(text)
    }

    fn boolean(&mut self) -> Option<bool> {
        if self.token("True").is_some() {
            return Some(true);
        }
        self.token("False").map(|()| false)
    }

    /// Reads a tuple of extents, of at most [`RANK_MAX`].
    fn shape(&mut self) -> Option<Vec<u64>> {
        let mut shape = Vec::new();
        self.token("(")?;
        while self.token(")").is_none() {
            let rest = self.rest.trim_start();
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            shape.push(rest[..digits].parse().ok()?);
            self.rest = &rest[digits..];
            if shape.len() > RANK_MAX {
                return None;
            }
            if self.token(",").is_none() {
                self.token(")")?;
                // A number in brackets is no tuple.
                (shape.len() > 1).then_some(())?;
                break;
            }
        }
        Some(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dict: &str) -> Vec<u8> {
        let length = u16::try_from(dict.len()).unwrap();
        [MAGIC, &[1, 0][..], &length.to_le_bytes(), dict.as_bytes()].concat()
    }

    #[test]
    fn headers_round_trip() {
        for shape in [&[][..], &[7], &[0, 7], &[1 << 40, 2, 3], &[u64::MAX; 32]] {
            let bytes = encode(DataType::Uint16, shape).unwrap();
            assert!(bytes.len().is_multiple_of(64) && bytes.ends_with(b"\n"));
            let (header, length) = read(&mut &bytes[..]).unwrap();
            assert_eq!(length, bytes.len());
            assert_eq!((header.descr.as_str(), header.is_fortran), ("<u2", false));
            assert_eq!(header.shape, shape);
        }
        assert_eq!(read(&mut &encode(DataType::Int8, &[1]).unwrap()[..]).unwrap().0.descr, "|i1");
    }

    #[test]
    fn version_2_and_other_spellings_are_read() {
        let dict = b"{\"shape\":(2,3),'fortran_order':True , 'descr':'>f4'} \n";
        let length = u32::try_from(dict.len()).unwrap();
        let bytes = [MAGIC, &[2, 0][..], &length.to_le_bytes(), dict].concat();
        let header = Header { descr: ">f4".to_owned(), is_fortran: true, shape: vec![2, 3] };
        assert_eq!(read(&mut &bytes[..]).unwrap(), (header, 12 + dict.len()));
    }

    #[test]
    fn hostile_headers_are_refused() {
        let whole = "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }";
        assert!(read(&mut &file(whole)[..]).is_ok());
        for (bytes, why) in [
            (file(&whole.replace("(3,)", "(3)")), "no description"),
            (file(&whole.replace("(3,)", "(-3,)")), "no description"),
            (file(&whole.replace("(3,)", "(3,,)")), "no description"),
            (file(&whole.replace("(3,)", "(99999999999999999999,)")), "no description"),
            (file(&whole.replace("(3,)", &format!("({})", "1,".repeat(33)))), "no description"),
            (file(&whole.replace("False", "0")), "no description"),
            (file(&whole.replace("'<u2'", "[('a', '<u2')]")), "no description"),
            (file(&whole.replace("'shape'", "'form'")), "no description"),
            (file(&whole.replace("'shape'", "'descr'")), "no description"),
            (file("{}"), "no description"),
            (file("é'"), "no description"),
            (file(&format!("{whole} x")), "no description"),
            (file(&whole[..30]), "no description"),
            (file(whole)[..30].to_vec(), "it ends in its header"),
            (b"\x93NUM".to_vec(), "it ends in its header"),
            (b"II*\0\x08\0\0\0\0\0".to_vec(), "it is no .npy file"),
            (b"\x93NUMPY\x03\0\x02\0\0\0{}".to_vec(), "version 3.0"),
            (b"\x93NUMPY\x02\0\xff\xff\xff\xff{}".to_vec(), "4294967295 bytes"),
            ([MAGIC, &b"\x01\0\x02\0\xff\xff"[..]].concat(), "no text"),
        ] {
            let error = read(&mut &bytes[..]).unwrap_err();
            assert!(error.contains(why), "{why}: {error}");
        }
    }
}
