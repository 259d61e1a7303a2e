//! Multipart uploads under way.

use std::collections::BTreeMap;
use std::sync::Mutex;

use bytes::{Bytes, BytesMut};

use crate::draw::draw;
use crate::log::lock;
use crate::xml_api::values;

#[derive(Debug, Default)]
pub(super) struct Uploads {
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    begun: u64,
    parts_put: u64,
    uploads: BTreeMap<String, Upload>,
}

#[derive(Debug)]
struct Upload {
    /// Bucket and key.
    object: (String, String),
    parts: BTreeMap<u32, Part>,
}

#[derive(Debug)]
struct Part {
    e_tag: String,
    bytes: Bytes,
}

/// Why an upload cannot become an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UploadError {
    /// There is no such upload of this object.
    NoSuchUpload,
    /// A part that is named was not put, or is another one.
    InvalidPart,
}

impl Uploads {
    pub(super) fn count(&self) -> usize {
        lock(&self.open).uploads.len()
    }

    /// Begins an upload of an object; its id.
    pub(super) fn begin(&self, bucket: &str, key: &str) -> String {
        let mut open = lock(&self.open);
        open.begun += 1;
        let id = format!("{:x}{:016x}", open.begun, draw(0, open.begun));
        let object = (bucket.to_owned(), key.to_owned());
        open.uploads.insert(id.clone(), Upload { object, parts: BTreeMap::new() });
        id
    }

    /// Puts a part; its ETag.
    pub(super) fn put(
        &self,
        id: &str,
        object: &(String, String),
        number: u32,
        bytes: Bytes,
    ) -> Result<String, UploadError> {
        let mut open = lock(&self.open);
        open.parts_put += 1;
        let e_tag = format!("\"part-{}\"", open.parts_put);
        let upload = open.uploads.get_mut(id).filter(|upload| upload.object == *object);
        let upload = upload.ok_or(UploadError::NoSuchUpload)?;
        upload.parts.insert(number, Part { e_tag: e_tag.clone(), bytes });
        Ok(e_tag)
    }

    /// The bytes of the parts that a document names, in its order.
    pub(super) fn assemble(
        &self,
        id: &str,
        object: &(String, String),
        document: &str,
    ) -> Result<Bytes, UploadError> {
        let open = lock(&self.open);
        let upload = open.uploads.get(id).filter(|upload| upload.object == *object);
        let upload = upload.ok_or(UploadError::NoSuchUpload)?;
        let (numbers, e_tags) = (values(document, "PartNumber"), values(document, "ETag"));
        if numbers.is_empty() || numbers.len() != e_tags.len() {
            return Err(UploadError::InvalidPart);
        }
        let (mut bytes, mut last) = (BytesMut::new(), 0);
        for (number, e_tag) in numbers.iter().zip(e_tags) {
            let number: u32 = number.parse().map_err(|_| UploadError::InvalidPart)?;
            let part = upload.parts.get(&number).filter(|part| part.e_tag == e_tag);
            let part = part.filter(|_| number > last).ok_or(UploadError::InvalidPart)?;
            bytes.extend_from_slice(&part.bytes);
            last = number;
        }
        Ok(bytes.freeze())
    }

    /// Forgets an upload; whether there was one.
    pub(super) fn end(&self, id: &str, object: &(String, String)) -> bool {
        let mut open = lock(&self.open);
        let is_open = open.uploads.get(id).is_some_and(|upload| upload.object == *object);
        is_open && open.uploads.remove(id).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(parts: &[(u32, &str)]) -> String {
        let part = |(number, e_tag): &(u32, &str)| {
            format!("<Part><PartNumber>{number}</PartNumber><ETag>{e_tag}</ETag></Part>")
        };
        parts.iter().map(part).collect()
    }

    #[test]
    fn an_upload_is_its_named_parts_in_order() {
        let (uploads, object) = (Uploads::default(), ("b".to_owned(), "k".to_owned()));
        let id = uploads.begin("b", "k");
        assert_ne!(id, uploads.begin("b", "k"));
        let old = uploads.put(&id, &object, 1, "old".into()).unwrap();
        let one = uploads.put(&id, &object, 1, "one".into()).unwrap();
        let two = uploads.put(&id, &object, 2, "two".into()).unwrap();
        let bytes = uploads.assemble(&id, &object, &document(&[(1, &one), (2, &two)]));
        assert_eq!(bytes.unwrap(), "onetwo");
        for wrong in [&[(1, &*old), (2, &two)][..], &[(3, &two)], &[(2, &two), (1, &one)], &[]] {
            let result = uploads.assemble(&id, &object, &document(wrong));
            assert_eq!(result, Err(UploadError::InvalidPart), "{wrong:?}");
        }
        let other = ("b".to_owned(), "other".to_owned());
        assert_eq!(uploads.assemble(&id, &other, ""), Err(UploadError::NoSuchUpload));
        assert!(!uploads.end(&id, &other) && uploads.end(&id, &object));
        assert!(!uploads.end(&id, &object));
        assert_eq!(uploads.count(), 1);
    }
}
