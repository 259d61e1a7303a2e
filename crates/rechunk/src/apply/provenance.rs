//! The note in the attributes of results: which operation they are of.
//!
//! With it a run that has ended can be told from another one: elements of results cannot be
//! compared with a source.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{Opened, OperationRequest};
use crate::Error;
use crate::formats::{Metadata, hex};
use crate::open::OpenArray;

/// The attribute of results.
const PROVENANCE: &str = "rechunk_apply";

/// Characters of the identity, hex.
const IDENTITY_LENGTH: usize = 32;

impl Opened {
    /// Notes in the attributes of `target` of which operation it is the result, and an identity.
    /// All that decides the elements is in it, but the elements of the sources.
    pub(crate) fn note(&self, source: &OpenArray, target: &mut Metadata) -> Result<(), Error> {
        let mut note = Map::new();
        note.insert("operation".to_owned(), said(&self.request.operation).into());
        note.insert("identity".to_owned(), self.identity(source)?.into());
        if let Some(places) = self.places(source)? {
            note.insert("blocks".to_owned(), places);
        }
        target.attributes_mut().insert(PROVENANCE.to_owned(), Value::Object(note));
        Ok(())
    }

    fn identity(&self, source: &OpenArray) -> Result<String, Error> {
        let request = serde_json::to_vec(&self.request.deciding()).map_err(|error| {
            Error::Usage { message: format!("the operation cannot be noted: {error}"), hint: None }
        })?;
        let mut hash = Sha256::new();
        let sources = [source].into_iter().chain(&self.others);
        for part in sources.map(|array| array.identity.as_bytes()).chain([&*request]) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let mut identity = hex(&hash.finalize());
        identity.truncate(IDENTITY_LENGTH);
        Ok(identity)
    }
}

/// An operation with its settings; of a command the program alone, as arguments may be secret.
fn said(operation: &OperationRequest) -> String {
    match operation {
        OperationRequest::Named { name, settings } if settings.is_empty() => name.clone(),
        OperationRequest::Named { name, settings } => {
            let settings: Vec<_> =
                settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("{name}:{}", settings.join(","))
        }
        OperationRequest::Command(command) => {
            let program = command.command.split_whitespace().next().unwrap_or_default();
            let name = program.rsplit('/').next().unwrap_or_default();
            name.to_owned()
        }
        OperationRequest::Function(function) => function.name.clone(),
    }
}
