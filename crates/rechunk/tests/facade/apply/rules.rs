//! Boxes within arrays, borders of sources, and chunks that are missing.

use rechunk::{Boundary, Class, Expand, Format, MissingChunks, Mode};

use super::case::{Case, Level};
use super::reference::Op;
use super::volume::{Kind, Volume};

/// Its fill value is what nothing else writes.
fn plane() -> Volume {
    let mut plane = Volume::new(Kind::U16, &[24, 36], &[7, 9]);
    plane.fill = 3.0;
    plane
}

fn levels() -> [Vec<Level>; 3] {
    [
        vec![Level::new(&[8, 12]).auto_crop()],
        vec![Level::new(&[6, 8]).blend(&[2, 3], Mode::Linear)],
        vec![Level::new(&[4, 6]).blend(&[1, 0], Mode::Linear), Level::new(&[8, 12]).crop(&[2, 0])],
    ]
}

/// A box that cuts chunks of the target on every side.
#[tokio::test]
async fn beyond_a_box_the_target_keeps_its_fill_value() {
    for levels in levels() {
        for expand in [Expand::None, Expand::ArrayChunk, Expand::Work, Expand::Both] {
            for clip in [true, false] {
                for shards in [None, Some([8, 12])] {
                    let case = Case::new(plane(), Op::Median(3), levels.clone());
                    let mut case = Case { expand, clip, ..case.to(Format::Zarr3, &[4, 6]) };
                    if let Some(shards) = shards {
                        case = case.sharded(&shards);
                    }
                    // Of a size that levels divide only once it has grown, unless it may not.
                    let may_grow = matches!(expand, Expand::Work | Expand::Both);
                    let end = if may_grow || levels.len() == 1 { (17, 28) } else { (19, 29) };
                    if expand == Expand::ArrayChunk && levels.len() > 1 {
                        continue; // chunks of the target need not divide into work chunks
                    }
                    case.region = Some(vec![(3, end.0), (5, end.1)]);
                    case.check().await;
                }
            }
        }
    }
}

#[tokio::test]
async fn voxels_in_gaps_are_not_written() {
    for gap in [[2, 4], [0, 2]] {
        let case = Case::new(plane(), Op::Median(3), vec![Level::new(&[6, 8]).auto_crop()]);
        let case = Case { gap: gap.to_vec(), expand: Expand::Work, ..case };
        case.clone().to(Format::Zarr3, &[6, 8]).check().await;
        case.clone().to(Format::Zarr2, &[4, 9]).check().await;
        Case { clip: false, region: Some(vec![(1, 14), (2, 30)]), ..case }.check().await;
    }
}

/// Pads that reach far beyond the array, also over its other border.
#[tokio::test]
async fn sources_go_on_beyond_their_border_by_each_rule() {
    let small = || Volume { fill: 3.0, ..Volume::new(Kind::I32, &[5, 9], &[2, 4]) };
    for boundary in Boundary::ALL {
        for crop in [[1, 1], [7, 12]] {
            let level = Level::new(&[3, 4]).crop(&crop).blend(&[1, 2], Mode::Linear);
            for (op, constant) in [(Op::Median(5), None), (Op::Median(3), Some(-17.0))] {
                let constant = constant.filter(|_| boundary == Boundary::Constant);
                let case = Case::new(small(), op, vec![level.clone()]);
                Case { boundary, constant, ..case }.check().await;
            }
        }
    }
}

fn with_gaps() -> Volume {
    Volume { gaps: 4, ..plane() }
}

#[tokio::test]
async fn missing_chunks_are_filled_or_calls_left_out() {
    for missing in [MissingChunks::Fill, MissingChunks::SkipIfAny, MissingChunks::SkipIfAll] {
        for boundary in [Boundary::Constant, Boundary::Wrap] {
            for level in [
                Level::new(&[7, 9]),
                Level::new(&[3, 5]).crop(&[1, 1]),
                Level::new(&[4, 6]).blend(&[1, 2], Mode::Linear),
                Level::new(&[4, 6]).blend(&[1, 2], Mode::Max),
            ] {
                let case = Case::new(with_gaps(), Op::Median(3), vec![level]);
                Case { boundary, missing, ..case }.check().await;
            }
        }
    }
}

/// All chunks that a call needs: those of every source.
#[tokio::test]
async fn a_call_is_left_out_where_nothing_of_any_source_is_there() {
    for missing in [MissingChunks::SkipIfAny, MissingChunks::SkipIfAll] {
        let mut case = Case::new(with_gaps(), Op::Mask, vec![Level::new(&[7, 9])]);
        let mask = Volume { seed: 9, gaps: 3, ..Volume::new(Kind::U8, &[24, 36], &[7, 9]) };
        case.sources.push(mask);
        Case { missing, ..case }.check().await;
    }
}

#[tokio::test]
async fn a_missing_chunk_is_an_error_where_it_is_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let case = Case::new(with_gaps(), Op::Median(3), vec![Level::new(&[8, 12])]);
    let case = Case { missing: MissingChunks::Error, ..case };
    case.write(folder.path());
    let job = case.job(folder.path(), "target").await.unwrap();
    let error = super::case::run(job, rechunk::Existing::Refuse).await.unwrap_err();
    assert_eq!(error.class(), Class::Source, "{error:?}");
    assert!(!folder.path().join("target/zarr.json").exists());
    // Of an array that is whole, it is none.
    let case = Case::new(plane(), Op::Median(3), vec![Level::new(&[8, 12])]);
    Case { missing: MissingChunks::Error, ..case }.check().await;
}
