//! Images that are written and read back.

use proptest::prelude::*;
use serde_json::json;

use crate::{Axis, AxisKind, Dialect, Image, Level, check_image, documents, level_transform};
use crate::{read_image, true_factors, upgrade};

const OME: [Dialect; 3] = [Dialect::OmeZarr04, Dialect::OmeZarr05, Dialect::OmeZarr06];

/// Axes that OME-Zarr has: `z` or not, and any of time and channel.
fn axes() -> impl Strategy<Value = Vec<Axis>> {
    let second = prop_oneof![Just(None), Just(Some("c")), Just(Some("q"))];
    (any::<bool>(), second, any::<bool>()).prop_map(|(has_time, second, has_z)| {
        let names = [has_time.then_some("t"), second, has_z.then_some("z"), Some("y"), Some("x")];
        names.into_iter().flatten().map(Axis::of_name).collect()
    })
}

fn images() -> impl Strategy<Value = (Image, bool)> {
    let axes = (axes(), any::<bool>(), any::<bool>());
    axes.prop_flat_map(|(axes, is_block, is_label)| {
        let rank = axes.len();
        let units = prop::collection::vec(prop_oneof![Just(None), Just(Some("micrometer"))], rank);
        let base = prop::collection::vec((0.01_f64..100.0, -1000.0_f64..1000.0), rank);
        let steps = prop::collection::vec(prop::collection::vec(1_u64..4, rank), 0..4);
        let shape = prop::collection::vec(100_u64..5000, rank);
        (units, base, steps, shape).prop_map(move |(units, base, steps, shape)| {
            let (scale, translation): (Vec<_>, Vec<_>) = base.into_iter().unzip();
            let mut factors = vec![1; rank];
            let mut levels = Vec::new();
            for (at, step) in std::iter::once(vec![1; rank]).chain(steps).enumerate() {
                factors = factors.iter().zip(&step).map(|(factor, step)| factor * step).collect();
                let (scale, translation) =
                    level_transform(&scale, &translation, &factors, is_block);
                let sizes = shape.iter().zip(&factors).map(|(size, factor)| size / factor);
                let (path, shape) = (format!("scale{at}/image"), sizes.collect());
                let factors = factors.clone();
                levels.push(Level { path, factors, scale, translation, shape });
            }
            let mut axes = axes.clone();
            for (axis, unit) in axes.iter_mut().zip(units) {
                axis.unit = unit.filter(|_| axis.kind == AxisKind::Space).map(str::to_owned);
            }
            let carried = json!({"own": {"a": 1}, "omero": {"channels": []}});
            let image = Image {
                name: "image".to_owned(),
                axes,
                levels,
                is_label,
                method: Some("mean".to_owned()),
                carried: carried.as_object().unwrap().clone(),
                data_type: "uint8".to_owned(),
                ..Image::default()
            };
            (image, is_block)
        })
    })
}

proptest! {
    #[test]
    fn an_image_of_ome_zarr_is_read_as_it_was_written((image, _) in images()) {
        for dialect in OME {
            let group = documents(&image, dialect).unwrap().group;
            let found = read_image(&group).unwrap();
            prop_assert_eq!(&found.problems, &Vec::<String>::new());
            prop_assert_eq!(found.dialect, dialect);
            prop_assert_eq!(&found.axes, &image.axes);
            prop_assert_eq!(found.name.as_deref(), Some("image"));
            prop_assert_eq!(found.method.as_deref(), Some("mean"));
            prop_assert_eq!(found.is_label, image.is_label);
            prop_assert_eq!(found.rest.get("own"), image.carried.get("own"));
            prop_assert_eq!(found.levels.len(), image.levels.len());
            for (found, level) in found.levels.iter().zip(&image.levels) {
                prop_assert_eq!(&found.path, &level.path);
                prop_assert_eq!(found.scale.as_ref(), Some(&level.scale));
                let zeros = vec![0.0; level.scale.len()];
                let translation = found.translation.as_ref().unwrap_or(&zeros);
                prop_assert_eq!(translation, &level.translation);
            }
        }
    }

    #[test]
    fn an_upgraded_image_is_the_one_written_anew((image, _) in images()) {
        for from in OME {
            for to in OME {
                let old = documents(&image, from).unwrap().group;
                let expected = documents(&image, to).unwrap().group;
                let upgraded = upgrade(&old, to).unwrap();
                prop_assert_eq!(upgraded.from, from);
                prop_assert_eq!(upgraded.notes, Vec::<String>::new());
                prop_assert_eq!(json!(upgraded.attributes), json!(expected));
            }
        }
    }

    #[test]
    fn a_written_image_agrees_with_its_shapes((image, _) in images()) {
        let group = documents(&image, Dialect::OmeZarr05).unwrap().group;
        let found = read_image(&group).unwrap();
        let shapes: Vec<_> = image.levels.iter().map(|level| level.shape.clone()).collect();
        let told = check_image(&found, &shapes);
        // A step of ones makes a level as large as the one before: that is told, nothing else is.
        prop_assert!(told.iter().all(|told| told.contains("is as large as")), "{:?}", told);
        for (factors, level) in true_factors(&found, &shapes).into_iter().zip(&image.levels) {
            let expected: Vec<_> = level.factors.iter().map(|factor| *factor as f64).collect();
            prop_assert_eq!(factors, Some(expected));
        }
    }

    #[test]
    fn an_image_of_n5_is_read_as_it_was_written((image, _) in images()) {
        let group = documents(&image, Dialect::N5Viewer).unwrap().group;
        let found = read_image(&group).unwrap();
        prop_assert_eq!(found.dialect, Dialect::N5Viewer);
        for (found, level) in found.levels.iter().zip(&image.levels) {
            prop_assert_eq!(found.scale.as_ref(), Some(&level.scale));
            prop_assert_eq!(found.translation.as_ref(), Some(&level.translation));
        }
    }
}
