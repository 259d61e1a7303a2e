//! Every refusal at plan time, by its code.

use rechunk_apply::{
    ApplyError, ApplySpec, BoxSpec, EXTENT_MAX, ErrorCode, Expand, LevelSpec, Mode, ValueKind,
    prepare,
};
use rechunk_grid::DataType;

/// Two levels over 32 voxels that divide.
fn two() -> ApplySpec {
    let levels = vec![LevelSpec::new([16]), LevelSpec::new([8])];
    ApplySpec::new(&[32], &[4], DataType::Uint8, levels)
}

fn one() -> ApplySpec {
    ApplySpec::new(&[32], &[4], DataType::Uint8, vec![LevelSpec::new([8])])
}

fn changed(mut spec: ApplySpec, change: impl Fn(&mut ApplySpec)) -> Result<(), ApplyError> {
    change(&mut spec);
    prepare(&spec).map(|_| ())
}

#[track_caller]
fn refused(
    spec: ApplySpec,
    code: ErrorCode,
    proposal: Option<&str>,
    change: impl Fn(&mut ApplySpec),
) {
    let error = changed(spec, change).unwrap_err();
    assert_eq!(error.code, code, "{error}");
    assert_eq!(error.proposal.as_deref(), proposal, "{error}");
}

fn without_target() -> ApplySpec {
    ApplySpec { target: None, ..two() }
}

#[test]
fn jobs_to_be_refused_are_fine_before() {
    for spec in [one(), two(), without_target()] {
        assert_eq!(changed(spec, |_| ()), Ok(()));
    }
}

#[test]
fn without_a_target() {
    refused(without_target(), ErrorCode::NoTargetNeedsDirect, None, |spec| {
        spec.levels[1].blend = vec![1];
    });
    refused(without_target(), ErrorCode::NoTargetArrayChunk, Some("work"), |spec| {
        spec.expand = Expand::ArrayChunk;
    });
    refused(without_target(), ErrorCode::NoTargetReduceMax, None, |spec| {
        spec.reduce_max = Some(vec![16]);
    });
    refused(without_target(), ErrorCode::NoTargetWholeBox, None, |spec| spec.domain = None);
    refused(without_target(), ErrorCode::NoTargetDefer, None, |spec| spec.defer = true);
}

#[test]
fn deferred() {
    refused(two(), ErrorCode::DeferNotTop, None, |spec| spec.levels[1].mode = Mode::Defer);
    refused(two(), ErrorCode::DeferDirect, None, |spec| (spec.defer, spec.direct) = (true, true));
}

#[test]
fn reductions() {
    refused(two(), ErrorCode::ReduceMaxBelowChunk, Some("16"), |spec| {
        spec.reduce_max = Some(vec![15]);
    });
    refused(one(), ErrorCode::ReduceMaxBelowArrayChunk, Some("12"), |spec| {
        spec.target.as_mut().unwrap().chunk = vec![12];
        spec.reduce_max = Some(vec![8]);
    });
    // By default an array chunk larger than a work chunk is fine.
    let large = |spec: &mut ApplySpec| {
        spec.target.as_mut().unwrap().chunk = vec![12];
        spec.levels[0].blend = vec![2];
    };
    assert_eq!(changed(one(), large), Ok(()));
}

#[test]
fn direct() {
    let blend = |spec: &mut ApplySpec| {
        spec.direct = true;
        spec.levels[0].blend = vec![4];
    };
    refused(two(), ErrorCode::DirectBlend, None, blend);
    refused(two(), ErrorCode::DirectCrop, None, |spec| {
        spec.direct = true;
        spec.levels[0].crop = vec![4];
    });
    refused(one(), ErrorCode::UnalignedWrite, None, |spec| {
        spec.direct = true;
        spec.target.as_mut().unwrap().chunk = vec![5];
    });
    assert_eq!(changed(two(), |spec| spec.direct = true), Ok(()));
}

#[test]
fn growth() {
    let auto = |spec: &mut ApplySpec| (spec.auto_divide, spec.expand) = (true, Expand::Work);
    assert_eq!(changed(two(), auto), Ok(()));
    refused(two(), ErrorCode::AutoDivideShrink, None, |spec| {
        auto(spec);
        spec.shrink = true;
    });
    refused(two(), ErrorCode::AutoDivideNoExpand, Some("work"), |spec| {
        auto(spec);
        spec.expand = Expand::None;
    });
    refused(two(), ErrorCode::AutoDivideArrayChunk, Some("work"), |spec| {
        auto(spec);
        spec.expand = Expand::Both;
    });
    refused(two(), ErrorCode::AutoDivideEmpty, None, |spec| {
        auto(spec);
        spec.levels[0].chunk = vec![5];
    });
    refused(two(), ErrorCode::ShrinkExpand, None, |spec| {
        (spec.shrink, spec.expand) = (true, Expand::Work);
    });
}

#[test]
fn gaps() {
    let gap = |spec: &mut ApplySpec| (spec.gap, spec.expand) = (vec![2], Expand::Work);
    assert_eq!(changed(two(), gap), Ok(()));
    let with = |change: fn(&mut ApplySpec)| {
        move |spec: &mut ApplySpec| {
            gap(spec);
            change(spec);
        }
    };
    refused(two(), ErrorCode::GapOdd, Some("4"), with(|spec| spec.gap = vec![3]));
    refused(two(), ErrorCode::GapBlendTop, None, with(|spec| spec.levels[0].blend = vec![4]));
    refused(two(), ErrorCode::GapAutoDivide, None, with(|spec| spec.auto_divide = true));
    refused(
        two(),
        ErrorCode::GapShrink,
        None,
        with(|spec| {
            (spec.shrink, spec.expand) = (true, Expand::None);
        }),
    );
    refused(
        two(),
        ErrorCode::GapArrayChunk,
        Some("work"),
        with(|spec| {
            spec.expand = Expand::ArrayChunk;
        }),
    );
    refused(two(), ErrorCode::GapVoxel, None, with(|spec| spec.expand = Expand::Voxel));
}

#[test]
fn division() {
    // The box.
    refused(two(), ErrorCode::NotDivisible, Some("15"), |spec| {
        spec.region = BoxSpec::voxels([(0, 30)]);
    });
    // A region between levels: 16 + 2 * 2 is no multiple of 8, but of 10.
    refused(two(), ErrorCode::NotDivisible, Some("10"), |spec| spec.levels[0].crop = vec![2]);
    // 31 is a prime: the nearest counts do not divide it.
    refused(two(), ErrorCode::NotDivisible, None, |spec| {
        spec.region = BoxSpec::voxels([(0, 31)]);
    });
    // With one level the last work chunk is cut.
    assert_eq!(changed(one(), |spec| spec.region = BoxSpec::voxels([(0, 31)])), Ok(()));
    refused(one(), ErrorCode::BlendAboveHalf, Some("4"), |spec| spec.levels[0].blend = vec![5]);
}

#[test]
fn boxes() {
    refused(one(), ErrorCode::BoxNotIntegral, Some("voxel"), |spec| {
        spec.region = BoxSpec::Fractional(vec![(0.0, 8.5)]);
    });
    refused(one(), ErrorCode::EmptyBox, None, |spec| spec.region = BoxSpec::voxels([(8, 8)]));
    refused(one(), ErrorCode::EmptyBox, None, |spec| spec.region = BoxSpec::voxels([(9, 8)]));
    refused(one(), ErrorCode::BoxOutside, Some("0:32"), |spec| {
        spec.region = BoxSpec::voxels([(-1, 33)]);
    });
    // Whole voxels would not do either.
    refused(one(), ErrorCode::BoxOutside, Some("0:9 in voxels"), |spec| {
        spec.region = BoxSpec::Fractional(vec![(-1.5, 8.5)]);
    });
    refused(one(), ErrorCode::BoxOutside, Some("0:9 in voxels"), |spec| {
        spec.region = BoxSpec::Fractional(vec![(-1.0, 9.0)]);
    });
    refused(one(), ErrorCode::TooLarge, None, |spec| {
        spec.region = BoxSpec::Fractional(vec![(0.0, f64::NAN)]);
    });
    refused(one(), ErrorCode::Axes, None, |spec| {
        spec.region = BoxSpec::voxels([(0, 8), (0, 8)]);
    });
}

#[test]
fn values() {
    let blend = |spec: &mut ApplySpec| spec.levels[0].blend = vec![2];
    let with = |change: fn(&mut ApplySpec)| {
        move |spec: &mut ApplySpec| {
            blend(spec);
            change(spec);
        }
    };
    refused(
        one(),
        ErrorCode::LabelBlend,
        Some("max"),
        with(|spec| {
            spec.value_kind = ValueKind::Label;
        }),
    );
    assert_eq!(changed(one(), with(|spec| spec.value_kind = ValueKind::LabelForced)), Ok(()));
    let largest = |spec: &mut ApplySpec| {
        (spec.value_kind, spec.levels[0].mode) = (ValueKind::Label, Mode::Max);
    };
    assert_eq!(changed(one(), with(largest)), Ok(()));
    refused(one(), ErrorCode::BlendType, None, with(|spec| spec.data_type = DataType::Complex64));
    // Elements of any type can be moved.
    assert_eq!(changed(one(), |spec| spec.data_type = DataType::Complex64), Ok(()));
    refused(one(), ErrorCode::CropNotIntegral, None, |spec| {
        spec.scale = vec![(1, 2).into()];
        spec.levels[0].crop = vec![3];
    });
    assert_eq!("cosine".parse::<Mode>().unwrap_err().code, ErrorCode::BlendMode);
}

/// Four axes of ramps with wide denominators: not even 128 bits hold the sums.
#[test]
fn sums_that_fit_nowhere() {
    let of = |rank: usize, blend: u64, data_type, mode| {
        let level = LevelSpec::new(vec![4 * blend; rank]).blend(vec![blend; rank], mode);
        let shape = vec![8 * blend; rank];
        prepare(&ApplySpec::new(&shape, &vec![8; rank], data_type, vec![level]))
    };
    let error = of(4, 500, DataType::Uint64, Mode::Quadratic).unwrap_err();
    assert_eq!(error.code, ErrorCode::BlendType);
    assert!(of(3, 500, DataType::Uint64, Mode::Quadratic).is_ok());
    assert_eq!(of(4, 4, DataType::Uint64, Mode::Bump).unwrap_err().code, ErrorCode::BlendType);
    assert!(of(4, 4, DataType::Uint16, Mode::Bump).is_ok());
}

#[test]
fn numbers_beyond_all_limits() {
    refused(one(), ErrorCode::Levels, None, |spec| spec.levels = Vec::new());
    refused(one(), ErrorCode::Levels, None, |spec| spec.levels = vec![LevelSpec::new([1]); 17]);
    refused(one(), ErrorCode::Zero, None, |spec| spec.levels[0].chunk = vec![0]);
    refused(one(), ErrorCode::Zero, None, |spec| spec.scale = vec![(1, 0).into()]);
    refused(one(), ErrorCode::TooLarge, None, |spec| spec.scale = vec![(1 << 20, 1).into()]);
    refused(one(), ErrorCode::Axes, None, |spec| spec.levels[0].crop = vec![1, 1]);
    refused(one(), ErrorCode::Axes, None, |spec| spec.gap = vec![0, 0]);
    refused(one(), ErrorCode::TooLarge, None, |spec| spec.levels[0].crop = vec![u64::MAX]);
    refused(one(), ErrorCode::TooLarge, None, |spec| {
        spec.levels = vec![LevelSpec::new(vec![1; 33])];
    });
    refused(two(), ErrorCode::TooLarge, None, |spec| {
        let side = 1 << 30;
        *spec = ApplySpec::new(
            &[side],
            &[64],
            DataType::Uint8,
            vec![LevelSpec::new([side]), LevelSpec::new([1])],
        );
    });
    let huge = vec![EXTENT_MAX; 2];
    let level = LevelSpec::new([1, 1]);
    let error = prepare(&ApplySpec::new(&huge, &[1, 1], DataType::Uint8, vec![level])).unwrap_err();
    assert_eq!(error.code, ErrorCode::TooLarge, "{error}");
}

#[test]
fn codes_are_told_apart() {
    let mut texts: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    let count = texts.len();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), count);
    assert!(texts.iter().all(|text| text.chars().all(|c| c.is_ascii_uppercase() || c == '_')));
}
