//! `GeoTransform` of GDAL and rioxarray, in the attributes of a grid mapping (`spatial_ref`): six
//! numbers in one text.

use serde_json::{Map, Number, Value};

use super::affine::Affine;
use super::rasters::{Raster, raster};
use super::{Changes, in_words};

const NAME: &str = "GeoTransform";
/// Positions at GDAL of the six numbers of an affine transform: `c a b f d e`.
const ORDER: [usize; 6] = [1, 2, 0, 4, 5, 3];

pub(super) fn is_in(attributes: &Map<String, Value>) -> bool {
    attributes.contains_key(NAME)
}

pub(super) fn follow(
    changes: &Changes,
    path: &str,
    attributes: &mut Map<String, Value>,
) -> Vec<String> {
    let Some(value) = attributes.get_mut(NAME) else { return Vec::new() };
    let said = |why: &str| vec![format!("{}: {NAME} {why}, and is not changed", in_words(path))];
    match raster(changes, path, None) {
        Raster::Same => Vec::new(),
        Raster::Several => said("is of arrays that are not cut alike"),
        Raster::Cut { rows, columns } => {
            let Some(before) = parse(value) else { return said("is no six numbers") };
            let after = before.moved(rows.start, columns.start);
            if after != before {
                *value = written(&after, value.is_string());
            }
            Vec::new()
        }
    }
}

fn parse(value: &Value) -> Option<Affine> {
    let numbers: Vec<Number> = match value {
        Value::String(text) => text
            .split_whitespace()
            .map(|word| Number::from_f64(word.parse().ok()?))
            .collect::<Option<_>>()?,
        Value::Array(numbers) => {
            numbers.iter().map(|number| number.as_number().cloned()).collect::<Option<_>>()?
        }
        _ => return None,
    };
    if numbers.len() != ORDER.len() {
        return None;
    }
    let ordered: Vec<Number> = ORDER.iter().map(|&at| numbers[at].clone()).collect();
    Affine::of_numbers(&ordered)
}

#[expect(clippy::many_single_char_names, reason = "as the formula of affine transforms has them")]
fn written(affine: &Affine, is_text: bool) -> Value {
    let [a, b, c, d, e, f] = affine.numbers();
    let numbers = [c, a, b, f, d, e];
    if is_text {
        let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        return Value::String(words.join(" "));
    }
    Value::Array(numbers.into_iter().cloned().map(Value::Number).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::changes;
    use super::*;

    #[test]
    fn the_text_of_a_grid_mapping_follows_its_raster() {
        let cut = changes(&[
            ("g/band", &[("band", 3, 0, 3), ("y", 100, 20, 30), ("x", 200, 10, 50)]),
            ("g/spatial_ref", &[]),
            ("h/t", &[("time", 9, 1, 3)]),
        ]);
        for (path, before, after) in [
            (
                "g/spatial_ref",
                json!("500000.0 10.0 0.0 9000.0 0.0 -10.0"),
                json!("500100.0 10.0 0.0 8800.0 0.0 -10.0"),
            ),
            ("g/spatial_ref", json!("0 1e-1 0 0 0 0.5 "), json!("1.0 0.1 0.0 10.0 0.0 0.5")),
            ("g/band", json!([500, 10, 0, 900, 0, -10]), json!([600, 10, 0, 700, 0, -10])),
            ("g", json!("0.0 1.0 0.0 0.0 0.0 1.0"), json!("10.0 1.0 0.0 20.0 0.0 1.0")),
            ("h/t", json!("0.0 1.0 0.0 0.0 0.0 1.0"), json!("0.0 1.0 0.0 0.0 0.0 1.0")),
        ] {
            let mut attributes = Map::from_iter([(NAME.to_owned(), before.clone())]);
            assert_eq!(follow(&cut, path, &mut attributes), Vec::<String>::new(), "{before}");
            assert_eq!(attributes[NAME], after, "{path}: {before}");
        }
        for wrong in
            [json!("1 2 3"), json!("a b c d e f"), json!(null), json!([1, 2, "3", 4, 5, 6])]
        {
            let mut attributes = Map::from_iter([(NAME.to_owned(), wrong.clone())]);
            let said = follow(&cut, "g/band", &mut attributes);
            assert!(said[0].contains("g/band: GeoTransform is no six numbers"), "{said:?}");
            assert_eq!(attributes[NAME], wrong);
        }
    }
}
