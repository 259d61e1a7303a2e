//! Buffers of windows that tasks have done with, for the tasks after them.

use std::sync::{Mutex, PoisonError};

use crate::Fault;
use crate::units::frame::buffer_bytes;

/// Spare buffers. The system would clear each new one, page by page, which takes as long as to copy
/// its elements. Nothing counts them: while a task runs its buffer is its own, and may leave with
/// its result, where a [`BufferPool`](crate::memory::pool::BufferPool) has to get its buffers back.
#[derive(Debug)]
pub(crate) struct Spare {
    buffers: Mutex<Vec<Vec<u8>>>,
    /// Most that are kept: a running task has one that is counted as its own.
    most: usize,
}

impl Spare {
    pub(crate) fn new(most: usize) -> Self {
        Self { buffers: Mutex::default(), most }
    }

    /// A buffer of so many elements, which may hold anything.
    pub(crate) fn take(&self, elements: u64, item_bytes: usize) -> Result<Vec<u8>, Fault> {
        let bytes = buffer_bytes(elements, item_bytes)?;
        let spare = self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // One that is much too large would be memory that nobody has counted.
        if let Some(mut buffer) = spare
            && (bytes..=bytes.saturating_mul(2)).contains(&buffer.capacity())
        {
            buffer.resize(bytes, 0);
            return Ok(buffer);
        }
        Ok(vec![0; bytes])
    }

    /// Gives back a buffer that nobody needs.
    pub(crate) fn give(&self, buffer: Vec<u8>) {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if buffers.len() < self.most {
            buffers.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_as_far_as_they_fit() {
        let spare = Spare::new(1);
        let given = vec![7; 24];
        let place = given.as_ptr();
        spare.give(given);
        spare.give(vec![8; 24]);
        let taken = spare.take(4, 4).unwrap();
        assert_eq!((taken.len(), taken.as_ptr()), (16, place));
        spare.give(taken);
        assert_eq!(spare.take(2, 4).unwrap(), [0; 8], "half of it would be wasted");
        assert_eq!(spare.take(4, 4).unwrap(), [0; 16], "the other one was not kept");
        assert!(spare.take(u64::MAX, 4).is_err());
    }
}
