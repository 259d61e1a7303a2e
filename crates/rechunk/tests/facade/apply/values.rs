//! Elements of targets against a reference that knows voxels only.

use rechunk::{Format, Mode, Round};

use super::case::{Case, Level};
use super::reference::Op;
use super::volume::{Kind, Volume};

/// A plane whose chunks divide neither its extents nor those of the targets.
fn plane(kind: Kind) -> Volume {
    Volume::new(kind, &[24, 36], &[7, 9])
}

/// An operation that looks at neighbours, where the type has one.
fn filter(kind: Kind) -> Op {
    match kind {
        Kind::U8 | Kind::F32 => Op::Gaussian(0.5),
        Kind::Bool | Kind::U16 | Kind::I32 => Op::Median(3),
    }
}

/// Two levels that blend both; the results of neighbours differ, as they see too little.
fn two_levels() -> Vec<Level> {
    vec![
        Level::new(&[6, 8]).blend(&[1, 2], Mode::Quadratic),
        Level::new(&[12, 18]).crop(&[1, 2]).blend(&[2, 1], Mode::Linear),
    ]
}

async fn way(case: Case) -> &'static str {
    let report = case.check().await;
    let way = serde_json::to_value(report.apply.unwrap().way).unwrap();
    if way == "direct" { "direct" } else { "pull" }
}

#[tokio::test]
async fn tasks_write_whole_chunks_themselves() {
    for kind in Kind::ALL {
        for op in [Op::Identity, filter(kind)] {
            let level = Level::new(&[8, 12]).auto_crop();
            let case = Case::new(plane(kind), op, vec![level]).to(Format::Zarr3, &[8, 6]);
            assert_eq!(way(case).await, "direct");
        }
    }
}

#[tokio::test]
async fn chunks_that_two_tasks_meet_are_combined_from_blocks() {
    for kind in Kind::ALL {
        for op in [Op::Identity, filter(kind)] {
            let level = Level::new(&[10, 13]).auto_crop();
            let case = Case::new(plane(kind), op, vec![level]).to(Format::Zarr3, &[8, 6]);
            assert_eq!(way(case).await, "pull");
        }
    }
}

#[tokio::test]
async fn overlaps_are_blended_by_each_rule() {
    for kind in Kind::ALL {
        for mode in [Mode::Linear, Mode::Quadratic, Mode::Bump, Mode::Max] {
            if kind == Kind::Bool && mode != Mode::Max {
                continue; // which have no averages
            }
            let level = Level::new(&[8, 12]).blend(&[2, 3], mode);
            let case = Case::new(plane(kind), filter(kind), vec![level]);
            assert_eq!(way(case).await, "pull");
        }
    }
}

/// Task boxes overlap as far as they may, and meet more than two chunks of the target.
#[tokio::test]
async fn overlaps_as_long_as_work_chunks() {
    let level = Level::new(&[8, 12]).blend(&[4, 6], Mode::Quadratic);
    let case = Case::new(plane(Kind::U16), Op::Median(3), vec![level]);
    assert_eq!(way(case.to(Format::Zarr3, &[5, 3])).await, "pull");
}

#[tokio::test]
async fn levels_are_combined_one_after_the_other() {
    for kind in [Kind::U8, Kind::U16, Kind::I32, Kind::F32] {
        for round in [Round::Level, Round::End] {
            let case = Case::new(plane(kind), filter(kind), two_levels());
            assert_eq!(way(Case { round, ..case }).await, "pull");
        }
    }
    let levels = vec![Level::new(&[6, 8]).auto_crop(), Level::new(&[12, 18]).crop(&[0, 3])];
    let case = Case::new(plane(Kind::Bool), Op::Median(3), levels).to(Format::Zarr3, &[12, 6]);
    assert_eq!(way(case).await, "direct");
}

#[tokio::test]
async fn targets_of_each_format() {
    for kind in [Kind::U8, Kind::U16, Kind::I32, Kind::F32] {
        let one = vec![Level::new(&[10, 13]).auto_crop()];
        let aligned = vec![Level::new(&[16, 12]).auto_crop()];
        for levels in [one, aligned, two_levels()] {
            for format in [Format::Zarr2, Format::Zarr3, Format::N5] {
                let case = Case::new(plane(kind), filter(kind), levels.clone());
                case.to(format, &[8, 6]).check().await;
            }
            let case = Case::new(plane(kind), filter(kind), levels.clone());
            case.to(Format::Zarr3, &[4, 6]).sharded(&[8, 12]).check().await;
        }
    }
}

#[tokio::test]
async fn a_mask_of_other_chunks_and_another_type() {
    for kind in Kind::ALL {
        let mut mask = Volume::new(Kind::Bool, &[24, 36], &[24, 5]);
        (mask.seed, mask.is_compressed) = (9, true);
        let mut case = Case::new(plane(kind), Op::Mask, vec![Level::new(&[10, 13])]);
        if kind == Kind::Bool {
            continue; // which has no 7
        }
        case.sources.push(mask);
        case.check().await;
    }
}

#[tokio::test]
async fn a_threshold_makes_bool() {
    for kind in [Kind::U8, Kind::U16, Kind::I32, Kind::F32] {
        for mode in [None, Some(Mode::Max)] {
            let level = Level::new(&[8, 9]);
            let level = if let Some(mode) = mode { level.blend(&[2, 2], mode) } else { level };
            let case = Case::new(plane(kind), Op::Threshold(100.0), vec![level]);
            case.to(Format::Zarr3, &[8, 9]).check().await;
        }
    }
}

#[tokio::test]
async fn arrays_of_one_and_of_three_axes() {
    let line = Volume::new(Kind::I32, &[101], &[8]);
    let level = Level::new(&[10]).blend(&[3], Mode::Linear);
    Case::new(line, Op::Median(5), vec![level]).check().await;
    let cube = Volume::new(Kind::U8, &[8, 12, 16], &[3, 5, 16]);
    let levels = vec![
        Level::new(&[2, 5, 6]).crop(&[1, 0, 1]).blend(&[0, 1, 1], Mode::Linear),
        Level::new(&[4, 6, 8]).crop(&[0, 1, 0]).blend(&[1, 1, 2], Mode::Quadratic),
    ];
    Case::new(cube, Op::Median(3), levels).to(Format::Zarr2, &[3, 3, 3]).check().await;
}

/// Sums of floats are made in one order.
#[tokio::test]
async fn threads_change_no_bit() {
    for levels in [vec![Level::new(&[4, 5]).blend(&[2, 2], Mode::Bump)], two_levels()] {
        let folder = tempfile::tempdir().unwrap();
        let mut case = Case::new(plane(Kind::F32), Op::Gaussian(1.0), levels);
        case.write(folder.path());
        let mut found = Vec::new();
        for (number, threads) in [1, 16, 16].into_iter().enumerate() {
            case.threads = threads;
            let name = format!("target{number}");
            case.run(folder.path(), &name).await;
            found.push(case.bytes(folder.path(), &name).await);
        }
        assert!(found.iter().all(|bytes| *bytes == found[0]));
    }
}

/// A float type is what the source is read as; any other one is made of results.
#[tokio::test]
async fn results_are_cast_before_they_are_blended() {
    for (from, to) in [
        (Kind::U16, Kind::F32),
        (Kind::U16, Kind::U8),
        (Kind::I32, Kind::U16),
        (Kind::F32, Kind::I32),
    ] {
        for levels in [vec![Level::new(&[8, 12]).blend(&[2, 3], Mode::Linear)], two_levels()] {
            let case = Case::new(plane(from), Op::Median(3), levels);
            Case { cast: Some(to), ..case }.check().await;
        }
    }
}
