//! Images against the shapes of their arrays.

use serde_json::json;

use super::object;
use crate::{FoundImage, check_image, read_image, true_factors};

type Levels<'a> = &'a [(&'a str, [f64; 2], Option<[f64; 2]>)];

fn image(levels: Levels) -> FoundImage {
    let datasets: Vec<_> = levels
        .iter()
        .map(|(path, scale, translation)| {
            let mut steps = vec![json!({"type": "scale", "scale": scale})];
            if let Some(translation) = translation {
                steps.push(json!({"type": "translation", "translation": translation}));
            }
            json!({"path": path, "coordinateTransformations": steps})
        })
        .collect();
    let attributes = json!({"multiscales": [{"axes": ["y", "x"], "datasets": datasets}]});
    read_image(object(&attributes)).unwrap()
}

/// Two levels, the second of this scale and translation.
fn two(scale: [f64; 2], translation: Option<[f64; 2]>) -> FoundImage {
    image(&[("0", [1.0, 1.0], None), ("1", scale, translation)])
}

#[test]
fn floor_and_ceil_agree_and_others_do_not() {
    let found = two([2.0, 2.0], Some([0.5, 0.5]));
    for shape in [[2, 3], [3, 4], [2, 4]] {
        assert!(check_image(&found, &[vec![5, 7], shape.to_vec()]).is_empty());
    }
    let told = check_image(&found, &[vec![5, 7], vec![1, 3]]);
    assert_eq!(
        told,
        ["level \"1\" says a factor of 2 along y, of which 5 elements become 2 or 3, and has 1"]
    );
    // An axis that cannot shrink keeps one element.
    assert!(check_image(&found, &[vec![1, 7], vec![1, 3]]).is_empty());
}

#[test]
fn ratios_of_sizes_are_not_factors() {
    let found = two([2.5, 7.0 / 3.0], Some([0.75, 2.0 / 3.0]));
    let shapes = [vec![5, 7], vec![2, 3]];
    assert!(check_image(&found, &shapes).is_empty());
    assert_eq!(true_factors(&found, &shapes)[1], Some(vec![2.0, 2.0]));
    // As spatialdata: 64 x 70, 32 x 35, 16 x 17.
    let found = two([4.0, 4.1176], Some([1.5, 1.5588]));
    let shapes = [vec![64, 70], vec![16, 17]];
    assert_eq!(true_factors(&found, &shapes)[1], Some(vec![4.0, 4.0]));
    // No whole number makes 7 of 10.
    assert_eq!(
        true_factors(&two([1.0, 1.0], None), &[vec![10, 10], vec![7, 10]])[1],
        Some(vec![10.0 / 7.0, 1.0])
    );
}

#[test]
fn translations_are_those_of_blocks_or_strides() {
    let shapes = [vec![8, 8], vec![4, 4]];
    let told = |translation| check_image(&two([2.0, 2.0], translation), &shapes);
    assert!(told(Some([0.5, 0.5])).is_empty());
    assert!(told(Some([0.0, 0.0])).is_empty());
    assert_eq!(told(Some([1.0, 0.5])).len(), 1);
    assert!(told(None)[0].contains("says no translation"));
    // In units, from an origin.
    let found =
        image(&[("0", [0.1, 0.1], Some([5.0, 5.0])), ("1", [0.2, 0.2], Some([5.05, 5.05]))]);
    assert_eq!(check_image(&found, &shapes), Vec::<String>::new());
}

#[test]
fn levels_that_are_missing_or_out_of_order_are_told() {
    let found = image(&[
        ("0", [1.0, 1.0], None),
        ("1", [4.0, 4.0], Some([1.5, 1.5])),
        ("2", [2.0, 2.0], Some([0.5, 0.5])),
        ("2", [8.0, 8.0], Some([3.5, 3.5])),
        ("4", [16.0, 16.0], Some([7.5, 7.5])),
    ]);
    let shapes = [vec![16, 16], vec![4, 4], vec![8, 8], vec![], vec![1, 1, 1]];
    let told = check_image(&found, &shapes).join("\n");
    for part in [
        "level \"2\" is larger than \"1\" before it",
        "level \"2\" says a finer scale than \"1\" before it",
        "level \"2\" is named twice",
        "level \"2\" has no array",
        "level \"4\" has 3 axes, the image 2",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    // As ome-zarr: levels of one element, again and again.
    let found = image(&[
        ("0", [1.0; 2], None),
        ("1", [5.0; 2], Some([2.0; 2])),
        ("2", [5.0; 2], Some([2.0; 2])),
    ]);
    let told = check_image(&found, &[vec![5, 5], vec![1, 1], vec![1, 1]]);
    assert_eq!(told, ["level \"2\" is as large as \"1\" before it"]);
}
