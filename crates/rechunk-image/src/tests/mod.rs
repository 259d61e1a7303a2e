//! Tests of what is written and read, dialect by dialect.

mod bdv;
mod check;
mod documents;
mod geozarr;
mod malformed;
mod read;
mod round_trip;
mod upgrade;

use serde_json::{Map, Value};

use crate::{Axis, Image, Level, level_transform};

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

/// An image of means: level 0 of these sizes, and one level for each list of factors.
fn image_of(names: &[&str], shape: &[u64], base: (&[f64], &[f64]), factors: &[&[u64]]) -> Image {
    let levels = factors.iter().enumerate().map(|(at, factors)| {
        let (scale, translation) = level_transform(base.0, base.1, factors, true);
        let sizes = shape.iter().zip(*factors).map(|(size, factor)| (size / factor).max(1));
        let factors = factors.to_vec();
        Level { path: format!("s{at}"), factors, scale, translation, shape: sizes.collect() }
    });
    Image {
        name: "image".to_owned(),
        axes: names.iter().map(|name| Axis::of_name(name)).collect(),
        levels: levels.collect(),
        method: Some("mean".to_owned()),
        data_type: "uint16".to_owned(),
        ..Image::default()
    }
}
