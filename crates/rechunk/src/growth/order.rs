//! Do the values of a coordinate go on where those of the archive end? None twice, all in one
//! direction.

use std::cmp::Ordering;

use rechunk_grid::{DataType, Endian, Region};

use super::values::in_words;
use super::{Growth, conflict};
use crate::calendar::{Number, Since, number};
use crate::elements::read_region;
use crate::open::OpenArray;
use crate::{Error, Remedy};

/// Most elements of a coordinate that are looked at.
const LOOKED_AT_MAX: u64 = 1 << 21;
/// Most chunks of a coordinate in which a label is looked for that is there already.
const LABEL_CHUNKS_MAX: u64 = 64;

const HINT: Remedy = Remedy::SelectNewOrTrust;

/// Refuses to append `source`, a coordinate of one axis that is read as `target` counts, where its
/// values do not go on those of `target`. Labels (numbers in no order that count no times) only
/// have to be others.
pub(super) async fn check(
    location: &str,
    source: &OpenArray,
    target: &OpenArray,
    growth: &Growth,
) -> Result<(), Error> {
    let data_type = source.spec().data_type;
    let ([length], [before]) = (&source.spec().shape[..], &growth.before[..]) else {
        return Ok(());
    };
    if !is_ordered(data_type) || *before == 0 {
        return Ok(());
    }
    let counts_times = Since::of_type(data_type).is_some()
        || Since::of_attributes(&target.metadata.meaning()).is_some();
    let is_short = *before <= LOOKED_AT_MAX && target.grid()?.count() <= LABEL_CHUNKS_MAX;
    // Of times, and of an archive of many chunks, the end is enough.
    let first = if !counts_times && is_short { 0 } else { before.saturating_sub(2) };
    let there = read_region(target, &Region::new(vec![first], vec![before - first])).await?;
    let looked_at = (*length).min(LOOKED_AT_MAX);
    let new = read_region(source, &Region::new(vec![0], vec![looked_at])).await?;
    let [there_numbers, new_numbers] = [&there, &new].map(|bytes| numbers(bytes, data_type));
    let Some(fault) = first_fault(&there_numbers, &new_numbers, counts_times) else {
        return Ok(());
    };
    let item = usize::try_from(data_type.item_bytes()).unwrap_or(1);
    let value = |place: Place| {
        let (elements, number) = match place {
            Place::There(number) => (&there, number),
            Place::New(number) => (&new, number),
        };
        let element = elements.get(number * item..(number + 1) * item).unwrap_or_default();
        in_words(element, target)
    };
    let name = |place: Place| match place {
        Place::There(number) => format!("[{}] of the archive", first + number as u64),
        Place::New(number) => format!("[{number}] of the source"),
    };
    let reason = match fault {
        Fault::NoValue(at) => format!("cannot go on with {}, which is no value", name(at)),
        Fault::Twice(at, other) => {
            format!("would have {} twice: it is {} and {}", value(at), name(other), name(at))
        }
        Fault::Turns(at, other) => format!(
            "would not be in order: {} is {}, and behind it {} is {}",
            name(other),
            value(other),
            name(at),
            value(at)
        ),
    };
    Err(conflict(location, reason, HINT))
}

/// Types whose values come one after the other.
fn is_ordered(data_type: DataType) -> bool {
    matches!(
        data_type,
        DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::Uint8
            | DataType::Uint16
            | DataType::Uint32
            | DataType::Uint64
            | DataType::Float32
            | DataType::Float64
            | DataType::DateTime64 { .. }
            | DataType::TimeDelta64 { .. }
    )
}

fn numbers(elements: &[u8], data_type: DataType) -> Vec<Option<Number>> {
    let item = usize::try_from(data_type.item_bytes()).unwrap_or(1).max(1);
    let elements = elements.chunks_exact(item);
    elements.map(|element| number(element, 0, data_type, Endian::Little)).collect()
}

/// A value that was looked at: of the end of the archive, or of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    There(usize),
    New(usize),
}

/// Fault of the first value of the source that has one.
#[derive(Debug, PartialEq, Eq)]
enum Fault {
    /// It is NaN, or no time.
    NoValue(Place),
    /// It is there already.
    Twice(Place, Place),
    /// It does not lie behind the one before.
    Turns(Place, Place),
}

/// The direction of values, where each of two or more lies behind the one before.
fn direction(values: &[Option<Number>]) -> Result<Option<Ordering>, ()> {
    let mut direction = None;
    for pair in values.windows(2) {
        let step = step(pair[0], pair[1]).filter(|step| step.is_ne()).ok_or(())?;
        if *direction.get_or_insert(step) != step {
            return Err(());
        }
    }
    Ok(direction)
}

/// `Less` is up.
fn step(from: Option<Number>, to: Option<Number>) -> Option<Ordering> {
    from?.compare(to?)
}

fn first_fault(
    there: &[Option<Number>],
    new: &[Option<Number>],
    counts_times: bool,
) -> Option<Fault> {
    let no_value = new.iter().position(Option::is_none).map(|at| Fault::NoValue(Place::New(at)));
    if counts_times && no_value.is_some() {
        return no_value;
    }
    let directions = (direction(there), direction(new));
    if !counts_times && (directions.0.is_err() || directions.1.is_err()) {
        return first_twice(there, new);
    }
    // Times go up where nothing says otherwise.
    let usual = counts_times.then_some(Ordering::Less);
    let wanted = match directions {
        (Ok(Some(direction)), _) | (Ok(None), Ok(Some(direction))) => Some(direction),
        _ => usual,
    };
    let mut before = there.len().checked_sub(1).map(|last| (Place::There(last), there[last]));
    for (at, &value) in new.iter().enumerate() {
        let place = Place::New(at);
        if let Some((other, last)) = before {
            match step(last, value) {
                Some(Ordering::Equal) => return Some(Fault::Twice(place, other)),
                Some(step) if wanted.is_some_and(|wanted| step != wanted) => {
                    return Some(Fault::Turns(place, other));
                }
                _ => {}
            }
        }
        before = Some((place, value));
    }
    None
}

/// The first value of the source that is there already.
fn first_twice(there: &[Option<Number>], new: &[Option<Number>]) -> Option<Fault> {
    let places = (0..there.len()).map(Place::There).chain((0..new.len()).map(Place::New));
    let mut seen: Vec<(Number, Place)> = there
        .iter()
        .chain(new)
        .zip(places)
        .filter_map(|(value, place)| Some(((*value)?, place)))
        .collect();
    // Stable: of those that are equal, the first stays the first.
    seen.sort_by(|(a, _), (b, _)| a.compare(*b).unwrap_or(Ordering::Equal));
    let pairs = seen
        .windows(2)
        .filter(|pair| step(Some(pair[0].0), Some(pair[1].0)) == Some(Ordering::Equal));
    let twice = pairs.filter_map(|pair| match pair[1].1 {
        Place::New(at) => Some((at, pair[0].1)),
        Place::There(_) => None,
    });
    twice.min_by_key(|(at, _)| *at).map(|(at, other)| Fault::Twice(Place::New(at), other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(there: &[i128], new: &[i128], counts_times: bool) -> Option<Fault> {
        let of = |values: &[i128]| -> Vec<Option<Number>> {
            values.iter().map(|value| Some(Number::Integer(*value))).collect()
        };
        first_fault(&of(there), &of(new), counts_times)
    }

    #[test]
    fn times_go_on_in_one_direction() {
        use Fault::{Turns, Twice};
        use Place::{New, There};
        for (there, new, expected) in [
            (&[1, 2][..], &[3, 4][..], None),
            (&[1, 2], &[5], None),
            (&[2, 1], &[0, -1], None),
            (&[1], &[2], None),
            (&[9], &[8, 7], None),
            (&[1, 2], &[2, 3], Some(Twice(New(0), There(1)))),
            (&[1, 2], &[1, 3], Some(Turns(New(0), There(1)))),
            (&[2, 1], &[2], Some(Turns(New(0), There(1)))),
            (&[2, 1], &[1], Some(Twice(New(0), There(1)))),
            (&[9], &[8], Some(Turns(New(0), There(0)))),
            (&[1, 2], &[3, 3], Some(Twice(New(1), New(0)))),
            (&[1, 2], &[3, 5, 4], Some(Turns(New(2), New(1)))),
            (&[2, 1], &[0, 5], Some(Turns(New(1), New(0)))),
            (&[1, 1], &[2], None),
        ] {
            assert_eq!(fault(there, new, true), expected, "{there:?} {new:?}");
        }
        let nan = [Some(Number::Float(3.0)), None];
        let found = first_fault(&[Some(Number::Float(1.0))], &nan, true);
        assert_eq!(found, Some(Fault::NoValue(New(1))));
    }

    #[test]
    fn labels_are_only_to_be_others() {
        use Place::{New, There};
        for (there, new, expected) in [
            (&[300, 100, 200][..], &[50, 400][..], None),
            (&[300, 100, 200], &[100], Some(Fault::Twice(New(0), There(1)))),
            (&[100, 200], &[400, 300, 350], None),
            (&[100, 200], &[400, 300, 400], Some(Fault::Twice(New(2), New(0)))),
            (&[100, 200], &[150], Some(Fault::Turns(New(0), There(1)))),
            (&[100], &[50], None),
            (&[100], &[100], Some(Fault::Twice(New(0), There(0)))),
            (&[20, 10], &[5, 0], None),
        ] {
            assert_eq!(fault(there, new, false), expected, "{there:?} {new:?}");
        }
    }
}
