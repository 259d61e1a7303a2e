//! Memory that was found too little while a job ran.

use rechunk_exec::Fault;

use crate::Error;

impl Error {
    /// Least memory, bytes, that the job could have gone on with, where it ended for want of it.
    pub(crate) fn lack_bytes(&self) -> Option<u64> {
        match self {
            Self::Run { source, .. } => source.least_bytes(),
            Self::Compare { source } => match source.downcast_ref()? {
                Fault::NoRoom { least_bytes, .. } => Some(*least_bytes),
                _ => None,
            },
            _ => None,
        }
    }
}
