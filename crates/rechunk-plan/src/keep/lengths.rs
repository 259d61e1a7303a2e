//! Lengths of a buffer that are worth a look, by axis.

use super::Model;
use super::baseline::{common, covering, divisors};

/// At most `most` lengths for a buffer along `axis`, ascending. They are all lengths, or multiples
/// of the files of both sides, equal parts of the array and divisors, the notable ones first.
pub(super) fn lengths(model: &Model, axis: usize, most: usize) -> Vec<u64> {
    let extent = model.shape[axis].max(1);
    if usize::try_from(extent).is_ok_and(|extent| extent <= most) {
        return (1..=extent).collect();
    }
    let (source, target) = (model.source.block[axis], model.target.block[axis]);
    let (common, covering) = (common(model)[axis], covering(model)[axis]);
    let mut list = sorted([1, source, target, common, covering, extent], extent);
    list.truncate(most);
    // Whole source files and common ends come first: they save most.
    let mut whole: Vec<u64> = multiples(extent, source).collect();
    whole.extend(multiples(extent, common));
    add(&mut list, whole, most / 2, extent);
    let parts = multiples(extent, 1).map(|length| extent.div_ceil(extent.div_ceil(length)));
    let mut others: Vec<u64> = parts.chain(multiples(extent, target)).collect();
    others.extend(divisors(source).into_iter().chain(divisors(target)));
    add(&mut list, others, most, extent);
    list
}

/// Lengths of whole source files, at most `most`, ascending.
pub(super) fn whole_lengths(model: &Model, axis: usize, most: usize) -> Vec<u64> {
    let extent = model.shape[axis].max(1);
    let (source, common) = (model.source.block[axis], common(model)[axis]);
    let mut list = sorted([source, common, extent], extent);
    let whole = multiples(extent, source).chain(multiples(extent, common));
    add(&mut list, whole, most, extent);
    list
}

/// Adds lengths to a list, evenly thinned so that it has no more than `most`.
fn add(list: &mut Vec<u64>, lengths: impl IntoIterator<Item = u64>, most: usize, extent: u64) {
    let mut lengths = sorted(lengths, extent);
    lengths.retain(|length| !list.contains(length));
    let room = most.saturating_sub(list.len()).min(lengths.len());
    list.extend((0..room).map(|at| lengths[at * lengths.len() / room]));
    list.sort_unstable();
}

fn sorted(lengths: impl IntoIterator<Item = u64>, extent: u64) -> Vec<u64> {
    let mut lengths: Vec<u64> =
        lengths.into_iter().filter(|length| (1..=extent).contains(length)).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Multiples of `unit`: the first few, those that divide the axis evenly in a few parts, and some
/// in between at growing distances.
fn multiples(extent: u64, unit: u64) -> impl Iterator<Item = u64> {
    const EVERY_ONE: u64 = 12;
    let count = extent.div_ceil(unit);
    let growing = std::iter::successors(Some(EVERY_ONE), |&at| Some(at + at / 4 + 1));
    let parts = (1..=EVERY_ONE).map(move |parts| count.div_ceil(parts));
    let wanted = (1..EVERY_ONE).chain(growing.take_while(move |&at| at < count)).chain(parts);
    wanted.filter(move |&at| at <= count).map(move |at| at.saturating_mul(unit).min(extent))
}
