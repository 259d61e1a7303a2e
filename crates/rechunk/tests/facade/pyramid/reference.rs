//! An image of 16-bit integers, and its levels computed element by element.

use std::collections::BTreeMap;
use std::path::Path;

use rechunk::{LevelSize, OpenOptions, ReduceMethod, Region, RegionOptions, Stores, open_array};
use serde_json::json;

/// Numbers that look random, the same each time (Knuth's constants of a linear generator).
#[derive(Debug)]
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// From 1 to `most`.
    pub(super) fn up_to(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 + (self.0 >> 33) % most
    }
}

#[derive(Debug, Clone)]
pub(super) struct Image {
    pub shape: Vec<u64>,
    pub values: Vec<i16>,
    chunk: Vec<u64>,
}

impl Image {
    pub(super) fn random(numbers: &mut Numbers, shape: Vec<u64>, chunk: Vec<u64>) -> Self {
        let is_narrow = numbers.up_to(2) == 1;
        let count = shape.iter().product::<u64>();
        let value = |_| {
            let number = i32::try_from(numbers.up_to(if is_narrow { 4 } else { 65_536 })).unwrap();
            i16::try_from(if is_narrow { number } else { number - 32_769 }).unwrap()
        };
        let values = (0..count).map(value).collect();
        Self { shape, values, chunk }
    }

    pub(super) async fn write(&self, place: &Path) {
        std::fs::create_dir_all(place).unwrap();
        let names: Vec<&str> = ["c", "z", "y", "x"][4 - self.shape.len()..].to_vec();
        let document = json!({
            "zarr_format": 3, "node_type": "array", "shape": self.shape, "data_type": "int16",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": self.chunk}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0, "dimension_names": names, "attributes": {},
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
                       {"name": "zstd", "configuration": {"level": 1, "checksum": true}}],
        });
        std::fs::write(place.join("zarr.json"), document.to_string()).unwrap();
        let location = place.display().to_string();
        let array =
            open_array(&location, &OpenOptions::default(), &Stores::default()).await.unwrap();
        let bytes: Vec<u8> = self.values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let options = RegionOptions::default();
        let whole = Region::whole(&self.shape);
        array.array.write_region(&whole, &bytes, &options).await.unwrap();
    }

    fn at(&self, position: &[u64]) -> i16 {
        self.values[usize::try_from(Region::whole(&self.shape).ordinal(position)).unwrap()]
    }

    /// The level of `factors`, cell by cell.
    pub(super) fn reduced(&self, method: ReduceMethod, size: LevelSize, factors: &[u64]) -> Self {
        let shape: Vec<u64> = self
            .shape
            .iter()
            .zip(factors)
            .map(|(&extent, &factor)| match size {
                LevelSize::Floor => (extent / factor).max(1),
                LevelSize::Ceil => extent.div_ceil(factor),
            })
            .collect();
        let value = |cell: Vec<u64>| {
            let start = cell.iter().zip(factors).map(|(at, factor)| at * factor).collect();
            let whole = Region::new(start, factors.to_vec());
            let there = whole.intersect(&Region::whole(&self.shape)).unwrap();
            of_cell(method, there.positions().map(|position| self.at(&position)).collect())
        };
        let values = Region::whole(&shape).positions().map(value).collect();
        Self { shape, values, chunk: self.chunk.clone() }
    }
}

fn of_cell(method: ReduceMethod, mut cell: Vec<i16>) -> i16 {
    match method {
        ReduceMethod::Mean => {
            let sum: i64 = cell.iter().map(|&value| i64::from(value)).sum();
            let count = i64::try_from(cell.len()).unwrap();
            let (whole, rest) = (sum / count, (sum % count).abs());
            let away = if 2 * rest >= count { sum.signum() } else { 0 };
            i16::try_from(whole + away).unwrap()
        }
        ReduceMethod::Mode => {
            let mut counts: BTreeMap<i16, usize> = BTreeMap::new();
            for value in cell {
                *counts.entry(value).or_default() += 1;
            }
            let most = *counts.values().max().unwrap();
            counts.into_iter().find(|(_, count)| *count == most).unwrap().0
        }
        ReduceMethod::Median => {
            cell.sort_unstable();
            cell[(cell.len() - 1) / 2]
        }
        ReduceMethod::Min => cell.into_iter().min().unwrap(),
        ReduceMethod::Max => cell.into_iter().max().unwrap(),
        ReduceMethod::Stride | ReduceMethod::Gaussian => cell[0],
    }
}
