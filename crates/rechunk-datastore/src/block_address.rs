use serde::{Deserialize, Serialize};

use crate::DatastoreError;

/// Numbers of a position: x, y, z of the block in its grid, timepoint, channel, angle.
const NUMBERS: usize = 6;
/// Most blocks of a request.
const BLOCKS_MAX: usize = 4096;

/// A timepoint, channel and angle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct View {
    /// Number of the timepoint.
    pub time: u64,
    /// Number of the channel.
    pub channel: u64,
    /// Number of the angle.
    pub angle: u64,
}

impl View {
    /// The block at a position of the grid.
    pub(crate) fn block(self, position: [u64; 3]) -> BlockAddress {
        let Self { time, channel, angle } = self;
        BlockAddress { position, time, channel, angle }
    }
}

/// Position of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockAddress {
    /// Position in the grid of blocks: x, y, z.
    pub position: [u64; 3],
    /// Number of its timepoint.
    pub time: u64,
    /// Number of its channel.
    pub channel: u64,
    /// Number of its angle.
    pub angle: u64,
}

impl BlockAddress {
    /// The timepoint, channel and angle.
    pub fn view(&self) -> View {
        View { time: self.time, channel: self.channel, angle: self.angle }
    }

    /// Reads `x/y/z/t/c/a`, any number of times, one at least.
    ///
    /// ```
    /// use rechunk_datastore::BlockAddress;
    /// assert_eq!(BlockAddress::list(&["1", "2", "3", "0", "0", "0"])?[0].position, [1, 2, 3]);
    /// assert!(BlockAddress::list(&["1", "2", "3", "0", "0"]).is_err());
    /// # Ok::<(), rechunk_datastore::DatastoreError>(())
    /// ```
    pub fn list(numbers: &[&str]) -> Result<Vec<Self>, DatastoreError> {
        let numbers = numbers.iter().map(|text| number(text)).collect::<Result<Vec<_>, _>>()?;
        let (groups, rest) = numbers.as_chunks::<NUMBERS>();
        if !rest.is_empty() || groups.is_empty() {
            let (count, each) = (numbers.len(), "x/y/z/time/channel/angle");
            let reason = format!("{count} numbers are no list of blocks: each has {each}");
            return Err(DatastoreError::Senseless(reason));
        }
        if groups.len() > BLOCKS_MAX {
            let reason = format!("{} blocks at once, at most {BLOCKS_MAX} are", groups.len());
            return Err(DatastoreError::Senseless(reason));
        }
        let address = |&[x, y, z, time, channel, angle]: &[u64; NUMBERS]| Self {
            position: [x, y, z],
            time,
            channel,
            angle,
        };
        Ok(groups.iter().map(address).collect())
    }
}

/// A number; one that is negative makes no sense, and whatever else stands there is none.
fn number(text: &str) -> Result<u64, DatastoreError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DatastoreError::Unknown(format!("{text:?} is no position of a block")));
    }
    // As in Java: positions are its `long`.
    let number = text.parse().ok().filter(|number| i64::try_from(*number).is_ok());
    number.ok_or_else(|| DatastoreError::Senseless(format!("{text} is no position of a block")))
}
