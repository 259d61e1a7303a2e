//! The arithmetic of each level: exact where the data are integers, and never more than fits.

use rechunk_grid::DataType;

use crate::error::{ApplyError, ErrorCode};
use crate::form::{Combine, Encoding, Lane, Rule, ValueForm, magnitude};
use crate::plan::Level;
use crate::ramp::Ramp;
use crate::spec::{LevelSpec, Mode, Round, ValueKind};

/// Most bits of the denominator of bump weights along an axis.
const BUMP_BITS_MAX: u32 = 30;
/// Fewest bits of bump weights: an error of a millionth.
const BUMP_BITS_MIN: u32 = 20;
/// Bits that are given up at most for sums in 64 bits.
const BUMP_BITS_GIVEN_UP: u32 = 4;

/// Facts of a level that its arithmetic depends on.
#[derive(Debug)]
pub(super) struct Given<'a> {
    /// Bottom first.
    pub(super) levels: &'a [LevelSpec],
    /// Work chunks along each axis, of each level.
    pub(super) counts: &'a [Vec<u64>],
    pub(super) data_type: DataType,
    pub(super) round: Round,
    pub(super) kind: ValueKind,
    /// Number of the last level that combines; those above hand on blocks.
    pub(super) last: usize,
}

fn refuse_type(data_type: DataType, number: usize, mode: Mode, reason: &str) -> ApplyError {
    let message = format!("level {number} blends `{mode}`, which {data_type} {reason}");
    ApplyError::new(ErrorCode::BlendType, message)
}

/// Levels of a plan, bottom first.
pub(super) fn levels(given: &Given<'_>) -> Result<Vec<Level>, ApplyError> {
    let mut form = ValueForm::plain(given.data_type);
    let mut levels = Vec::with_capacity(given.levels.len());
    for (number, spec) in given.levels.iter().enumerate() {
        // Along an axis of one work chunk nothing overlaps.
        let overlaps: Vec<bool> = (0..spec.chunk.len())
            .map(|axis| spec.blend[axis] > 0 && given.counts[number][axis] > 1)
            .collect();
        let is_deferred = spec.mode == Mode::Defer;
        let is_blended = overlaps.contains(&true) && !is_deferred;
        if is_blended {
            check_values(given, number, spec.mode)?;
        }
        let ramps = ramps(given, number, &overlaps, form)?;
        let mut combine = combine(given, number, is_blended, &ramps, form)?;
        let is_plain = given.round == Round::Level || number >= given.last;
        combine.output = if is_plain { ValueForm::plain(given.data_type) } else { combine.output };
        form = combine.output;
        let region_crop = given.levels.get(number + 1).map(|above| above.crop.clone());
        levels.push(Level {
            chunk: spec.chunk.clone(),
            crop: spec.crop.clone(),
            blend: spec.blend.clone(),
            mode: spec.mode,
            region_crop: region_crop.unwrap_or_else(|| vec![0; spec.chunk.len()]),
            is_blended,
            ramps,
            combine,
        });
    }
    Ok(levels)
}

fn check_values(given: &Given<'_>, number: usize, mode: Mode) -> Result<(), ApplyError> {
    let data_type = given.data_type;
    if mode.is_weighted() && given.kind == ValueKind::Label {
        let message = format!(
            "level {number} would average labels (`{mode}`): overlaps of labels are combined by \
             `max`, or averaged on demand only"
        );
        let error = ApplyError::new(ErrorCode::LabelBlend, message);
        return Err(error.with_proposal(Some(Mode::Max.name().to_owned())));
    }
    let is_number = magnitude(data_type).is_some() || data_type.is_ieee_float();
    let reason = "elements have no exact rule for";
    if is_number { Ok(()) } else { Err(refuse_type(data_type, number, mode, reason)) }
}

/// Bits of a number.
fn bits(number: u128) -> u32 {
    128 - number.leading_zeros()
}

/// Precision of bump weights along each of `axes`, so that sums of `form` fit.
fn bump_bits(form: ValueForm, axes: u32) -> u32 {
    let Some(values) = magnitude(form.data_type) else { return BUMP_BITS_MAX };
    let axes = axes.max(1);
    let used = bits(values.saturating_mul(form.denominator));
    let room = |lane: u32| lane.saturating_sub(used) / axes;
    let short = room(62);
    let found = if short + BUMP_BITS_GIVEN_UP >= BUMP_BITS_MAX { short } else { room(126) };
    found.min(BUMP_BITS_MAX)
}

fn ramps(
    given: &Given<'_>,
    number: usize,
    overlaps: &[bool],
    form: ValueForm,
) -> Result<Vec<Option<Ramp>>, ApplyError> {
    let spec = &given.levels[number];
    if !spec.mode.is_weighted() {
        return Ok(vec![None; overlaps.len()]);
    }
    let axes = u32::try_from(overlaps.iter().filter(|&&overlaps| overlaps).count());
    let bits = bump_bits(form, axes.unwrap_or(u32::MAX));
    if spec.mode == Mode::Bump && overlaps.contains(&true) && bits < BUMP_BITS_MIN {
        let reason = "sums along so many axes have too few bits for";
        return Err(refuse_type(given.data_type, number, spec.mode, reason));
    }
    let axes = overlaps.iter().zip(spec.blend.iter().zip(&spec.chunk));
    axes.map(|(&overlaps, (&blend, &chunk))| {
        if !overlaps {
            return Ok(None);
        }
        let ramp = Ramp::new(spec.mode, blend, chunk, bits);
        ramp.map(Some).ok_or_else(|| {
            let message = format!("a blend of {blend} voxels has too many different weights");
            ApplyError::new(ErrorCode::TooLarge, message)
        })
    })
    .collect()
}

/// The arithmetic of a level whose values may stay fractions.
fn combine(
    given: &Given<'_>,
    number: usize,
    is_blended: bool,
    ramps: &[Option<Ramp>],
    input: ValueForm,
) -> Result<Combine, ApplyError> {
    let data_type = given.data_type;
    let mode = given.levels[number].mode;
    let rule = match (is_blended, mode.is_weighted()) {
        (false, _) => Rule::Assign,
        (true, false) => Rule::Max,
        (true, true) => Rule::Sum,
    };
    let parts = ramps.iter().flatten().map(|ramp| u128::from(ramp.denominator()));
    let own = parts.fold(1_u128, u128::saturating_mul);
    let plain = Combine { rule, lane: Lane::Float64, input, output: input, denominator: 1 };
    let Some(largest) = magnitude(data_type).filter(|_| rule == Rule::Sum) else {
        let mut combine = plain;
        if rule == Rule::Sum {
            combine.denominator = own;
            combine.output = ValueForm { data_type, encoding: Encoding::Float64, denominator: 1 };
        }
        return Ok(combine);
    };
    let all = own.saturating_mul(input.denominator);
    let sum = largest.saturating_mul(all);
    let (lane, encoding) = if sum <= i64::MAX.unsigned_abs().into() {
        (Lane::Int64, Encoding::Fixed64)
    } else if sum <= i128::MAX.unsigned_abs() {
        (Lane::Int128, Encoding::Fixed128)
    } else {
        let reason = "sums do not fit 128 bits for";
        return Err(refuse_type(data_type, number, mode, reason));
    };
    let output = ValueForm { data_type, encoding, denominator: all };
    Ok(Combine { rule, lane, input, output, denominator: own })
}
