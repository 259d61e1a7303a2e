//! A level as an array of N5: its attributes, and which object is which block.

use bytes::{BufMut, Bytes, BytesMut};
use object_store::PutPayload;
use serde_json::{Value, json};

use super::description::Description;
use super::fault::Fault;
use super::location::LevelLocation;
use super::sizes::Sizes;

/// Key of the attributes.
pub(super) const ATTRIBUTES: &str = "attributes.json";

/// An axis beyond x, y and z that has more than one index. In this order they follow in N5, so that
/// an array is angle, time, channel, z, y, x in C order, as OME-Zarr wants its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outer {
    Channel,
    Time,
    Angle,
}

/// A level of a version, or of one that is to be made.
#[derive(Debug)]
pub(super) struct Level {
    described: Description,
    /// Shape of a block, x, y, z.
    pub block: [u64; 3],
    pub item_bytes: u64,
    outer: Vec<Outer>,
    /// Index of the time, channel and angle where there is no axis of it.
    fixed: [u64; 3],
    pub attributes: Bytes,
    /// The version as paths name it; `None`: it is to be made.
    pub version: Option<String>,
}

impl Level {
    /// The level at `location` of what is described.
    pub(super) fn new(location: &LevelLocation, described: Description) -> Result<Self, Fault> {
        let level = described.level(location.factors)?.clone();
        let version = described.version(location.version)?;
        let item_bytes = item_bytes(&described.voxel_type).ok_or_else(|| {
            let url = location.dataset_url();
            let reason = format!("its type {:?} is none of N5", described.voxel_type);
            Fault::NotDescribed { url, reason }
        })?;
        let counts = [described.time_count(), described.channels, described.angles];
        let fixed = fixed(location, &described, counts)?;
        let is_axis = |axis: usize| fixed[axis].is_none() && counts[axis] > 1;
        let outer = [(Outer::Channel, 1), (Outer::Time, 0), (Outer::Angle, 2)];
        let outer = outer.into_iter().filter(|(_, axis)| is_axis(*axis));
        let outer: Vec<Outer> = outer.map(|(outer, _)| outer).collect();
        let attributes = attributes(&described, level.resolutions, level.block_dimensions, &outer);
        let fixed = fixed.map(Option::unwrap_or_default);
        let block = level.block_dimensions;
        Ok(Self { described, block, item_bytes, outer, fixed, attributes, version })
    }

    /// The block that an object is: `x/y/z/time/channel/angle`; `None` if it is none.
    pub(super) fn block_at(&self, key: &str) -> Option<String> {
        let mut numbers = Vec::with_capacity(6);
        for text in key.split('/') {
            let number: u64 =
                text.parse().ok().filter(|number: &u64| number.to_string() == text)?;
            numbers.push(number);
        }
        let (position, rest) = numbers.split_at_checked(3)?;
        if rest.len() != self.outer.len() {
            return None;
        }
        let [mut time, mut channel, mut angle] = self.fixed;
        for (outer, index) in self.outer.iter().zip(rest) {
            match outer {
                Outer::Channel => channel = *index,
                Outer::Time => time = *index,
                Outer::Angle => angle = *index,
            }
        }
        let time = self.described.time(time)?;
        let is_there = channel < self.described.channels && angle < self.described.angles;
        let [x, y, z] = position else { return None };
        is_there.then(|| format!("{x}/{y}/{z}/{time}/{channel}/{angle}"))
    }

    /// The header of N5 of a block of some sizes.
    pub(super) fn n5_header(&self, sizes: Sizes) -> Bytes {
        let rank = self.rank();
        let mut header = BytesMut::with_capacity(4 + 4 * rank);
        header.put_u16(0);
        header.put_u16(u16::try_from(rank).unwrap_or(u16::MAX));
        sizes.0.iter().for_each(|size| header.put_u32(*size));
        self.outer.iter().for_each(|_| header.put_u32(1));
        header.freeze()
    }

    /// An object of N5 that was made by these attributes as a block on the wire.
    pub(super) fn wire_block(&self, payload: PutPayload) -> Result<[Bytes; 2], Fault> {
        let wrong = |reason: &str| Fault::Block(reason.to_owned());
        let object = Bytes::from(payload);
        let header_bytes = 4 + 4 * self.rank();
        if object.len() < header_bytes {
            return Err(wrong("it is too short"));
        }
        let sizes: Vec<u32> = object[4..header_bytes]
            .chunks_exact(4)
            .map(|word| word.iter().fold(0, |size, byte| size << 8 | u32::from(*byte)))
            .collect();
        let (&[x, y, z], outer) = sizes.split_first_chunk::<3>().ok_or_else(|| wrong("axes"))?;
        let sizes = Sizes([x, y, z]);
        if object[..4] != self.n5_header(sizes)[..4] || outer.iter().any(|size| *size != 1) {
            return Err(wrong("its header is of another array"));
        }
        let elements = object.slice(header_bytes..);
        if sizes.bytes(self.item_bytes) != Some(elements.len() as u64) {
            return Err(wrong("it has not the bytes that its header says"));
        }
        Ok([sizes.wire_header(), elements])
    }

    /// A block on the wire of zeros, of the size that the block at `key` has inside the image.
    pub(super) fn zeros(&self, factors: [u64; 3], key: &str) -> Option<[Bytes; 2]> {
        let mut position = key.split('/').filter_map(|text| text.parse::<u64>().ok());
        let mut sizes = [0; 3];
        let size = level_size(self.described.dimensions, factors);
        for axis in 0..3 {
            let start = position.next()?.checked_mul(self.block[axis])?;
            let rest = size[axis].checked_sub(start)?.min(self.block[axis]);
            sizes[axis] = u32::try_from(rest).ok()?;
        }
        let sizes = Sizes(sizes);
        let bytes = usize::try_from(sizes.bytes(self.item_bytes)?).ok()?;
        Some([sizes.wire_header(), Bytes::from(vec![0; bytes])])
    }

    fn rank(&self) -> usize {
        3 + self.outer.len()
    }
}

/// Elements of a level along x, y and z.
fn level_size(dimensions: [u64; 3], factors: [u64; 3]) -> [u64; 3] {
    std::array::from_fn(|axis| (dimensions[axis] / factors[axis]).max(1))
}

/// Indices that a location chooses, of time, channel and angle.
fn fixed(
    location: &LevelLocation,
    described: &Description,
    counts: [u64; 3],
) -> Result<[Option<u64>; 3], Fault> {
    let [time, channel, angle] = location.fixed;
    let among = |axis, asked: Option<u64>, count: u64| match asked {
        Some(asked) if asked >= count => {
            Err(Fault::NoIndex { axis, asked, there: format!("0 to {}", count - 1) })
        }
        asked => Ok(asked),
    };
    let time = match time {
        None => None,
        Some(asked) => Some(described.time_index(asked).ok_or_else(|| {
            let there = format!("{} of other numbers", counts[0]);
            Fault::NoIndex { axis: "time", asked, there }
        })?),
    };
    Ok([time, among("channel", channel, counts[1])?, among("angle", angle, counts[2])?])
}

/// The document of the array.
fn attributes(
    described: &Description,
    factors: [u64; 3],
    block: [u64; 3],
    outer: &[Outer],
) -> Bytes {
    let mut dimensions = level_size(described.dimensions, factors).to_vec();
    let mut block_size = block.to_vec();
    let mut axes = vec!["x", "y", "z"];
    let unit = described.voxel_unit.as_deref().unwrap_or_default();
    let mut units = vec![unit; 3];
    let voxel = described.voxel_resolution.unwrap_or([1.0; 3]);
    let mut resolution: Vec<f64> =
        voxel.iter().zip(factors).map(|(size, factor)| size * factor as f64).collect();
    for axis in outer {
        let (name, count, measure) = match axis {
            Outer::Channel => ("c", described.channels, None),
            Outer::Time => ("t", described.time_count(), described.timepoint_resolution.as_ref()),
            Outer::Angle => ("a", described.angles, None),
        };
        axes.push(name);
        dimensions.push(count);
        block_size.push(1);
        units.push(measure.map_or("", |measure| measure.unit.as_str()));
        resolution.push(measure.map_or(1.0, |measure| measure.value));
    }
    let mut document = json!({
        "dimensions": dimensions,
        "blockSize": block_size,
        "dataType": described.voxel_type,
        "compression": { "type": "raw" },
        "axes": axes,
    });
    if described.voxel_resolution.is_some()
        && let Some(members) = document.as_object_mut()
    {
        members.insert("resolution".to_owned(), Value::from(resolution));
        members.insert("units".to_owned(), Value::from(units));
    }
    Bytes::from(document.to_string().into_bytes())
}

/// Bytes of an element of a type, as N5 names it.
fn item_bytes(name: &str) -> Option<u64> {
    Some(match name {
        "uint8" | "int8" => 1,
        "uint16" | "int16" => 2,
        "uint32" | "int32" | "float32" => 4,
        "uint64" | "int64" | "float64" => 8,
        _ => return None,
    })
}
