//! Arrays by arithmetic: what is stored, and what has to be.

use bytes::Bytes;
use rechunk_testkit::SimStore;
use serde_json::{Value, json};

pub(crate) const ROOT: &str = "s3://sim";

/// An array of 16-bit numbers in plain files of Zarr v2.
#[derive(Debug, Clone)]
pub(crate) struct Plain {
    pub shape: Vec<u64>,
    pub chunk: Vec<u64>,
    /// Position of its first element in what it is a part of: elements follow from that.
    pub start: Vec<u64>,
    pub names: Option<Vec<&'static str>>,
    pub fill: Value,
    pub dtype: &'static str,
    pub attributes: Value,
    /// Every so many chunks one is missing; 0: none.
    pub gaps: u64,
}

impl Plain {
    pub(crate) fn new(shape: &[u64], chunk: &[u64]) -> Self {
        Self {
            shape: shape.to_vec(),
            chunk: chunk.to_vec(),
            start: vec![0; shape.len()],
            names: None,
            fill: json!(0),
            dtype: "<u2",
            attributes: json!({}),
            gaps: 0,
        }
    }

    pub(crate) fn at(mut self, start: &[u64]) -> Self {
        self.start = start.to_vec();
        self
    }

    pub(crate) fn named(mut self, names: &[&'static str]) -> Self {
        self.names = Some(names.to_vec());
        self
    }

    /// Stores it.
    pub(crate) fn write(&self, disk: &SimStore, path: &str) {
        let document = json!({
            "zarr_format": 2, "shape": self.shape, "chunks": self.chunk, "dtype": self.dtype,
            "compressor": null, "fill_value": self.fill, "order": "C", "filters": null,
        });
        let put =
            |key: &str, bytes: Vec<u8>| disk.put(&format!("{path}/{key}"), Bytes::from(bytes));
        put(".zarray", document.to_string().into_bytes());
        let mut attributes = self.attributes.clone();
        if let Some(names) = &self.names {
            attributes["_ARRAY_DIMENSIONS"] = json!(names);
        }
        put(".zattrs", attributes.to_string().into_bytes());
        for (number, index) in positions(&self.counts()).enumerate() {
            if self.is_missing(number as u64) {
                continue;
            }
            let elements = positions(&self.chunk).flat_map(|inside| {
                let at: Vec<u64> = (0..inside.len())
                    .map(|axis| index[axis] * self.chunk[axis] + inside[axis])
                    .collect();
                let is_inside = at.iter().zip(&self.shape).all(|(at, extent)| at < extent);
                // What lies beyond the end is nobody's business.
                if is_inside { self.value(&at) } else { 0xdead }.to_le_bytes()
            });
            let key: Vec<String> = index.iter().map(u64::to_string).collect();
            put(&key.join("."), elements.collect());
        }
    }

    fn counts(&self) -> Vec<u64> {
        self.shape.iter().zip(&self.chunk).map(|(extent, chunk)| extent.div_ceil(*chunk)).collect()
    }

    fn is_missing(&self, number: u64) -> bool {
        self.gaps > 0 && number % self.gaps == self.gaps - 1
    }

    /// The element at a position, if nothing is missing.
    fn value(&self, at: &[u64]) -> u16 {
        let all: Vec<u64> = at.iter().zip(&self.start).map(|(at, start)| at + start).collect();
        value(&all)
    }

    /// The element at a position as it reads.
    fn read(&self, at: &[u64]) -> u16 {
        let index = at.iter().zip(&self.chunk).map(|(at, chunk)| at / chunk);
        let counts = self.counts();
        let number = index.zip(&counts).fold(0, |number, (index, count)| number * count + index);
        if self.is_missing(number) {
            return u16::try_from(self.fill.as_u64().unwrap()).unwrap();
        }
        self.value(at)
    }
}

/// The element at a position of all that is put together.
pub(crate) fn value(at: &[u64]) -> u16 {
    let hash = at.iter().fold(7_u64, |hash, at| hash.wrapping_mul(31).wrapping_add(at + 1));
    u16::try_from(1 + hash % 60_000).unwrap()
}

/// Positions of a box, C order.
pub(crate) fn positions(shape: &[u64]) -> impl Iterator<Item = Vec<u64>> + use<> {
    let shape = shape.to_vec();
    (0..shape.iter().product::<u64>()).map(move |number| {
        let (mut rest, mut position) = (number, vec![0; shape.len()]);
        for axis in (0..shape.len()).rev() {
            position[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        position
    })
}

/// What an array has to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expected {
    pub shape: Vec<u64>,
    pub elements: Vec<u16>,
}

impl Expected {
    pub(crate) fn of(part: &Plain) -> Self {
        let elements = positions(&part.shape).map(|at| part.read(&at)).collect();
        Self { shape: part.shape.clone(), elements }
    }

    /// With `part` behind it along `axis`.
    pub(crate) fn append(&mut self, part: &Plain, axis: usize) {
        let (before, old) = (self.shape[axis], self.clone());
        self.shape[axis] += part.shape[axis];
        let element = |mut at: Vec<u64>| {
            if at[axis] < before {
                return old.elements[ordinal(&old.shape, &at)];
            }
            at[axis] -= before;
            part.read(&at)
        };
        self.elements = positions(&self.shape).map(element).collect();
    }

    /// With `part` in it at `start`.
    pub(crate) fn put(&mut self, part: &Plain, start: &[u64]) {
        for at in positions(&part.shape) {
            let there: Vec<u64> = at.iter().zip(start).map(|(at, start)| at + start).collect();
            let ordinal = ordinal(&self.shape, &there);
            self.elements[ordinal] = part.read(&at);
        }
    }
}

fn ordinal(shape: &[u64], at: &[u64]) -> usize {
    let ordinal = at.iter().zip(shape).fold(0, |ordinal, (at, extent)| ordinal * extent + at);
    usize::try_from(ordinal).unwrap()
}
