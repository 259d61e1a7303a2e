//! Least and largest elements of a box window, and openings and closings made of them.

use std::sync::Arc;

use rechunk_grid::DataType;

use super::blocks::{Filtered, filter, scratch_bytes};
use super::window::{WindowExtreme, chain, grown, halo, reaches};
use crate::element::{Element, Key, for_elements, supported};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, check_run};
use crate::settings::{PerAxis, Settings, identity};
use crate::view::{BoxView, Outcome, TaskContext, box_bytes, elements_mut, extents};

const SIZE: Parameter =
    Parameter::new("size", "odd sizes, one or one for each axis", "elements of the window");

pub(crate) const MIN: OperationInfo = OperationInfo::new(
    "min",
    "least element of a box window, exactly (erosion); -0 is less than 0",
    "the source's type",
    &[SIZE],
);

pub(crate) const MAX: OperationInfo = OperationInfo::new(
    "max",
    "largest element of a box window, exactly (dilation); -0 is less than 0",
    "the source's type",
    &[SIZE],
);

pub(crate) const OPEN: OperationInfo = OperationInfo::new(
    "open",
    "largest of the least elements of box windows (opening)",
    "the source's type",
    &[SIZE],
);

pub(crate) const CLOSE: OperationInfo = OperationInfo::new(
    "close",
    "least of the largest elements of box windows (closing)",
    "the source's type",
    &[SIZE],
);

#[derive(Debug)]
struct Extremes {
    info: &'static OperationInfo,
    size: PerAxis<u64>,
    /// Whether each pass takes the largest; one pass or two.
    passes: &'static [bool],
}

fn build(
    settings: &Settings<'_>,
    info: &'static OperationInfo,
    passes: &'static [bool],
) -> Result<Arc<dyn Operation>, OpError> {
    Ok(Arc::new(Extremes { info, size: settings.window("size")?, passes }))
}

pub(crate) fn build_min(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    build(settings, &MIN, &[false])
}

pub(crate) fn build_max(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    build(settings, &MAX, &[true])
}

pub(crate) fn build_open(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    build(settings, &OPEN, &[false, true])
}

pub(crate) fn build_close(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    build(settings, &CLOSE, &[true, false])
}

/// The key of an element; that of NaN is beyond all others in the direction that is looked for.
#[inline]
fn load<T: Element>(element: T, is_max: bool) -> T::Key {
    let key = element.to_key();
    if T::IS_FLOAT && !is_max && key == T::Key::MAX { T::Key::MIN } else { key }
}

/// The element of a key from [`load`].
#[inline]
fn store<T: Element>(key: T::Key, is_max: bool) -> T {
    let is_nan = T::IS_FLOAT && !is_max && key == T::Key::MIN;
    T::from_key(if is_nan { T::Key::MAX } else { key })
}

/// Computes one pass.
fn pass<T: Element>(
    input: &[T],
    shape: &[usize],
    keep: &[std::ops::Range<usize>],
    reaches: &[usize],
    is_max: bool,
    out: &mut [T],
) {
    let chains = [chain(reaches, |reach| WindowExtreme { reach, is_max })];
    let job = Filtered { input, shape, keep, chains: &chains };
    let store = |row: &[T::Key], out: &mut [T]| {
        out.iter_mut().zip(row).for_each(|(out, &key)| *out = store(key, is_max));
    };
    filter(&job, out, |element| load(element, is_max), |_, _, _| {}, store);
}

impl Extremes {
    fn run_as<T: Element>(
        &self,
        input: &BoxView<'_>,
        out: &mut [u8],
        context: &TaskContext,
        mut reaches: Vec<usize>,
    ) -> Result<Outcome, OpError> {
        let (mut shape, mut keep) = (extents(input.shape), context.ranges());
        if shape.is_empty() {
            shape.push(1);
            keep.push(0..1);
            reaches.push(0);
        }
        let input = input.elements::<T>(self.info.name)?;
        let out = elements_mut::<T>(self.info.name, out)?;
        match *self.passes {
            [first, second] => {
                let mut between = vec![T::ZERO; input.len()];
                let more = grown(&keep, &reaches, &shape);
                pass(input, &shape, &more, &reaches, first, &mut between);
                pass(&between, &shape, &keep, &reaches, second, out);
            }
            _ => pass(input, &shape, &keep, &reaches, self.passes[0], out),
        }
        Ok(Outcome::Done)
    }
}

impl Operation for Extremes {
    fn name(&self) -> &'static str {
        self.info.name
    }

    fn identity(&self) -> String {
        identity(self.info.name, 1, &[("size", self.size.canonical())])
    }

    fn halo(&self, rank: usize) -> Result<Vec<[u64; 2]>, OpError> {
        let halo = halo(&reaches(self.info.name, &self.size, rank)?);
        let passes = self.passes.len() as u64;
        Ok(halo.into_iter().map(|sides| sides.map(|side| passes * side)).collect())
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        supported(self.info.name, input)
    }

    fn scratch_bytes(&self, shape: &[u64], input: DataType) -> u64 {
        let Ok(reaches) = reaches(self.info.name, &self.size, shape.len()) else { return 0 };
        let item_bytes = usize::try_from(input.item_bytes()).unwrap_or(usize::MAX);
        let pass = scratch_bytes(&extents(shape), &reaches, item_bytes, 1);
        let between = box_bytes(shape, input).map_or(u64::MAX, |bytes| bytes as u64);
        if self.passes.len() > 1 { pass.saturating_add(between) } else { pass }
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let input = check_run(self, inputs, out, context)?;
        let reaches = reaches(self.info.name, &self.size, input.shape.len())?;
        for_elements!(self.info.name, input.data_type, T => {
            self.run_as::<T>(&input, out, context, reaches)
        })
    }
}
