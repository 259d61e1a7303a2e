//! The output units of a task that are being filled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use rechunk_grid::Region;
use rechunk_kernel::{Digest, wide};

use crate::units::frame::Frame;
use crate::units::stored::Stored;

/// Units by ordinal. A unit is here from the first input that meets it to the last.
#[derive(Debug, Default)]
pub(crate) struct Units {
    units: Mutex<HashMap<u64, Arc<Unit>>>,
}

/// One output unit that is being filled.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Its number among the units of the tile, C order.
    pub ordinal: u64,
    /// Its index in the stage's output grid.
    pub index: Vec<u64>,
    /// Its elements in the tile.
    pub region: Region,
    /// Positions of the elements in the buffer.
    pub frame: Frame,
    filling: Mutex<Filling>,
}

/// State of a unit that is being filled.
#[derive(Debug)]
pub(crate) struct Filling {
    /// The elements; empty before the first input that brings some.
    pub buffer: Vec<u8>,
    /// Inputs that were missing have not been filled in.
    pub has_left_out: bool,
    /// Inputs that have not been copied into it.
    pub inputs_left: u64,
    /// Parts that some input stored, where that matters.
    pub stored: Stored,
    /// Of its elements that were copied, where they are counted by unit.
    pub digest: Digest,
}

/// A unit that has all its elements.
#[derive(Debug)]
pub(crate) struct Finished {
    /// As in [`Unit`].
    pub ordinal: u64,
    /// As in [`Unit`].
    pub index: Vec<u64>,
    /// As in [`Unit`].
    pub region: Region,
    /// The step that brought the last of it.
    pub step: u64,
    /// The elements; empty if all inputs were missing and that is left out of the target.
    pub buffer: Vec<u8>,
    /// Parts that some input stored, where that matters.
    pub stored: Stored,
    /// Of its elements, where they are counted by unit.
    pub digest: Digest,
}

impl Units {
    /// Of the units `ordinals`, those that are here, each in its place.
    pub(crate) fn get(&self, ordinals: &[u64], found: &mut Vec<Option<Arc<Unit>>>) {
        let units = self.lock();
        found.clear();
        found.extend(ordinals.iter().map(|ordinal| units.get(ordinal).map(Arc::clone)));
    }

    /// The unit `ordinal`, made as `new` unless somebody was faster.
    pub(crate) fn get_or_insert(&self, new: Unit) -> Arc<Unit> {
        Arc::clone(self.lock().entry(new.ordinal).or_insert_with(|| Arc::new(new)))
    }

    /// Number of units that are here.
    pub(crate) fn count(&self) -> u64 {
        wide(self.lock().len())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Unit>>> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a unit out that has all its inputs, the last of them from `step`.
    pub(crate) fn finish(&self, unit: &Unit, filling: &mut Filling, step: u64) -> Finished {
        self.lock().remove(&unit.ordinal);
        let (index, region) = (unit.index.clone(), unit.region.clone());
        let buffer = std::mem::take(&mut filling.buffer);
        let stored = std::mem::take(&mut filling.stored);
        let (ordinal, digest) = (unit.ordinal, filling.digest);
        Finished { ordinal, index, region, step, buffer, stored, digest }
    }
}

impl Finished {
    /// Returns the unit as it is needed after it has been sent.
    pub(crate) fn without_elements(&self) -> Self {
        let (index, region) = (self.index.clone(), self.region.clone());
        let (buffer, stored) = (Vec::new(), Stored::default());
        Self { index, region, buffer, stored, ..*self }
    }
}

impl Unit {
    /// A unit into which nothing has been copied, of so many inputs.
    pub(crate) fn new(
        ordinal: u64,
        index: Vec<u64>,
        region: Region,
        frame: Frame,
        inputs_left: u64,
    ) -> Self {
        let (buffer, stored, digest) = (Vec::new(), Stored::default(), Digest::default());
        let filling = Filling { buffer, has_left_out: false, inputs_left, stored, digest };
        let filling = Mutex::new(filling);
        Self { ordinal, index, region, frame, filling }
    }

    /// The lock, if nobody holds it.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Filling>> {
        match self.filling.try_lock() {
            Ok(filling) => Some(filling),
            // Whoever panicked with it has failed the task: what it left is never written.
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The lock, waited for.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Filling> {
        self.filling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
