//! The cells of all levels of a pass, out of the elements of a step.

use rechunk_grid::Region;
use rechunk_plan::{LevelsFrom, PassInput, PyramidWork, cells_of, ratio};
use rechunk_reduce::{
    Counts, GaussianAxis, GaussianWindow, Method, ReduceError, SumType, fold_cells, fold_counts,
    gaussian, reduce, reduce_masked, round_sums, sum_cells, sum_cells_masked,
};

use super::read::Window;
use super::stage::PyramidStage;
use super::stored::Stored;
use crate::Fault;
use crate::units::frame::{self, buffer_bytes};

/// Cells of a level.
#[derive(Debug)]
pub(super) struct LevelResult {
    /// Box of the level.
    pub cells: Region,
    /// Its elements, or what is left of them for the next pass.
    pub values: Vec<u8>,
}

/// Results of a step.
#[derive(Debug)]
pub(super) struct Results {
    /// Of each level of the pass, finest first.
    pub levels: Vec<LevelResult>,
    /// Results of the last level that are not rounded, for the next pass, if it is to get some.
    pub left: Option<LevelResult>,
    /// Parts of the input that are stored.
    pub stored: Stored,
}

/// A box of elements, or of sums of elements, from which cells are made.
#[derive(Debug)]
struct Data {
    region: Region,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// Elements, and which of them count; `None`: all.
    Values(Vec<u8>, Option<Vec<u8>>),
    /// Sums, and of how many elements each is; `None`: of all that there are.
    Sums(Vec<u8>, Option<Vec<u64>>),
}

/// A step as it is computed.
struct Step<'a> {
    stage: &'a PyramidStage,
    /// The elements of the step.
    own: Region,
    /// The elements that were read: of the step and of the halo around it.
    input: Data,
    /// Levels of which others are made, by number.
    made: Vec<Option<Data>>,
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn fault(error: ReduceError) -> Fault {
    Fault::Plan { reason: format!("its levels cannot be computed: {error}") }
}

/// Computes the cells of all levels of the pass of `stage`.
pub(super) fn compute(stage: &PyramidStage, window: Window) -> Result<Results, Fault> {
    let Window { step, region, bytes, mask, stored } = window;
    let pass = stage.pass();
    let form = if stage.reads_sums() { Form::Sums(bytes, None) } else { Form::Values(bytes, mask) };
    let input = Data { region, form };
    let made = (0..pass.end).map(|_| None).collect();
    let mut of = Step { stage, own: step, input, made };
    let mut levels = Vec::with_capacity(stage.levels.len());
    for level in pass.first..pass.end {
        let (cells, values) = of.level(level)?;
        levels.push(of.cropped(level, cells, values)?);
    }
    let left = if pass.leaves_blocks { of.left(pass.end.saturating_sub(1)) } else { None };
    let (Form::Values(bytes, _) | Form::Sums(bytes, _)) = of.input.form;
    stage.shared.spare.give(bytes);
    Ok(Results { levels, left, stored })
}

impl Step<'_> {
    fn work(&self) -> &PyramidWork {
        self.stage.work()
    }

    /// The data that a level is made of, and the elements of it that make up a cell.
    fn parent(&self, level: usize) -> (&Data, Vec<u64>) {
        let own = &self.work().levels[level].factors;
        let parent = self.work().parent(level);
        if let Some((number, data)) = parent.and_then(|at| Some((at, self.made.get(at)?.as_ref()?)))
        {
            return (data, ratio(own, &self.work().levels[number].factors));
        }
        (&self.input, self.work().relative(self.stage.shared.number, level))
    }

    /// Results of a level are made into another one, or left.
    fn is_needed(&self, level: usize) -> bool {
        let pass = self.stage.pass();
        let is_left = pass.leaves_blocks && level + 1 == pass.end;
        is_left || (level + 1..pass.end).any(|other| self.work().parent(other) == Some(level))
    }

    /// Cells of a level and their elements. Keeps what others are made of.
    fn level(&mut self, level: usize) -> Result<(Region, Vec<u8>), Fault> {
        let factors = self.work().relative(self.stage.shared.number, level);
        let is_whole = factors.iter().all(|&factor| factor == 1);
        if let Form::Values(..) = &self.input.form
            && is_whole
        {
            return Ok((self.own.clone(), self.elements()?));
        }
        let (method, from) = (self.work().method, self.work().from);
        if method == Method::Gaussian {
            return self.gaussian(&factors);
        }
        if method.is_summed() && from == LevelsFrom::S0 {
            let is_made = self.work().parent(level).is_some_and(|parent| !self.is_input(parent));
            if self.stage.reads_sums() || is_made || self.is_needed(level) {
                self.sum(level)?;
                return self.rounded(level);
            }
        }
        let mut made = self.reduced(level)?;
        if from == LevelsFrom::Previous {
            made = self.cut(level, made)?;
        }
        if self.is_needed(level) {
            let Form::Values(values, _) = &made.form else { return Err(no_elements()) };
            let result = (made.region.clone(), values.clone());
            self.made[level] = Some(made);
            return Ok(result);
        }
        let Form::Values(values, _) = made.form else { return Err(no_elements()) };
        Ok((made.region, values))
    }

    /// The elements of the step.
    fn elements(&self) -> Result<Vec<u8>, Fault> {
        let Form::Values(bytes, _) = &self.input.form else { return Err(no_elements()) };
        if self.input.region == self.own {
            return Ok(bytes.clone());
        }
        frame::cut(self.stage.shared.item_bytes, (bytes, &self.input.region), &self.own)
    }

    /// The level is the input of the pass.
    fn is_input(&self, level: usize) -> bool {
        match self.stage.pass().input {
            PassInput::Source => false,
            PassInput::Blocks(input) | PassInput::Level(input) => input == level,
        }
    }

    fn gaussian(&self, factors: &[u64]) -> Result<(Region, Vec<u8>), Fault> {
        let Form::Values(bytes, _) = &self.input.form else { return Err(no_elements()) };
        let cells = cells_of(&self.own, factors);
        let region = &self.input.region;
        let axes = (0..cells.rank()).map(|axis| GaussianAxis {
            extent: region.shape[axis],
            start: self.own.start[axis] - region.start[axis],
            cells: cells.shape[axis],
            factor: factors[axis],
        });
        let window = GaussianWindow { axes: axes.collect() };
        let mut values = vec![0; buffer_bytes(cells.elements(), self.stage.shared.item_bytes)?];
        let (rounding, data_type) = (self.work().rounding, self.stage.data_type);
        gaussian(rounding, data_type, bytes, &window, &mut values).map_err(fault)?;
        Ok((cells, values))
    }

    /// Cells of a level, each of the elements of one of its parent.
    fn reduced(&self, level: usize) -> Result<Data, Fault> {
        let (parent, factors) = self.parent(level);
        let Form::Values(bytes, mask) = &parent.form else { return Err(no_elements()) };
        let cells = cells_of(&parent.region, &factors);
        let mut values = vec![0; buffer_bytes(cells.elements(), self.stage.shared.item_bytes)?];
        if cells.is_empty() {
            return Ok(Data { region: cells, form: Form::Values(values, None) });
        }
        let (method, rounding) = (self.work().method, self.work().rounding);
        let (data_type, shape) = (self.stage.data_type, &parent.region.shape);
        let Some(mask) = mask else {
            let reduced = reduce(method, rounding, data_type, bytes, shape, &factors, &mut values);
            reduced.map_err(fault)?;
            return Ok(Data { region: cells, form: Form::Values(values, None) });
        };
        let mut there = vec![0; buffer_bytes(cells.elements(), 1)?];
        let (fill, out) = (&*self.stage.fill, (&mut *values, &mut *there));
        reduce_masked(
            method, rounding, data_type, bytes, mask, shape, &factors, fill, out.0, out.1,
        )
        .map_err(fault)?;
        Ok(Data { region: cells, form: Form::Values(values, Some(there)) })
    }

    /// Sums the elements of the cells of a level. Those of the finer levels that it follows from
    /// come first, so that sums of floats are the same bits in all plans.
    fn sum(&mut self, level: usize) -> Result<(), Fault> {
        if self.made[level].is_some() {
            return Ok(());
        }
        if let Some(parent) = self.work().parent(level).filter(|&parent| !self.is_input(parent)) {
            self.sum(parent)?;
        }
        let (parent, factors) = self.parent(level);
        let (shape, data_type) = (&parent.region.shape, self.stage.data_type);
        let sum_type = SumType::of(data_type);
        let cells = cells_of(&parent.region, &factors);
        let item_bytes = rechunk_kernel::narrow(sum_type.item_bytes());
        let mut sums = vec![0; buffer_bytes(cells.elements(), item_bytes)?];
        let counts = || vec![0_u64; cells.elements().try_into().unwrap_or(0)];
        let counts = match &parent.form {
            Form::Values(bytes, None) => {
                sum_cells(data_type, bytes, shape, &factors, &mut sums).map_err(fault)?;
                None
            }
            Form::Values(bytes, Some(mask)) => {
                let mut own = counts();
                let (sums, own_counts) = (&mut *sums, &mut *own);
                sum_cells_masked(data_type, bytes, mask, shape, &factors, sums, own_counts)
                    .map_err(fault)?;
                Some(own)
            }
            Form::Sums(bytes, of) => {
                fold_cells(sum_type, bytes, shape, &factors, &mut sums).map_err(fault)?;
                let folded = of.as_ref().map(|of| {
                    let mut own = counts();
                    fold_counts(of, shape, &factors, &mut own).map(|()| own).map_err(fault)
                });
                folded.transpose()?
            }
        };
        self.made[level] = Some(Data { region: cells, form: Form::Sums(sums, counts) });
        Ok(())
    }

    /// The means of the cells of a level, of their sums.
    fn rounded(&self, level: usize) -> Result<(Region, Vec<u8>), Fault> {
        let Some(Data { region, form: Form::Sums(sums, counts) }) = &self.made[level] else {
            return Err(no_elements());
        };
        let mut values = vec![0; buffer_bytes(region.elements(), self.stage.shared.item_bytes)?];
        let axes = || {
            let counts =
                |axis| self.work().counts(level, axis, region.start[axis], region.shape[axis]);
            (0..region.rank()).map(counts).collect()
        };
        let counts = counts.as_ref().map_or_else(|| Counts::Axes(axes()), |own| Counts::Each(own));
        let (rounding, data_type) = (self.work().rounding, self.stage.data_type);
        let fill = &self.stage.fill;
        round_sums(data_type, rounding, sums, &counts, fill, &mut values).map_err(fault)?;
        Ok((region.clone(), values))
    }

    /// The part of a level that its array has.
    fn inside(&self, level: usize, cells: &Region) -> Region {
        let whole = Region::whole(&self.work().levels[level].shape);
        let nothing = || Region::new(cells.start.clone(), vec![0; cells.rank()]);
        cells.intersect(&whole).unwrap_or_else(nothing)
    }

    /// The elements of a level that its array has.
    fn cropped(&self, level: usize, cells: Region, values: Vec<u8>) -> Result<LevelResult, Fault> {
        let inside = self.inside(level, &cells);
        if inside == cells {
            return Ok(LevelResult { cells, values });
        }
        let values = frame::cut(self.stage.shared.item_bytes, (&values, &cells), &inside)?;
        Ok(LevelResult { cells: inside, values })
    }

    /// Data of a level without the cells that its array leaves out.
    fn cut(&self, level: usize, data: Data) -> Result<Data, Fault> {
        let inside = self.inside(level, &data.region);
        let Form::Values(values, mask) = &data.form else { return Ok(data) };
        if inside == data.region {
            return Ok(data);
        }
        let cut = frame::cut(self.stage.shared.item_bytes, (values, &data.region), &inside)?;
        let mask =
            mask.as_ref().map(|mask| frame::cut(1, (mask, &data.region), &inside)).transpose()?;
        Ok(Data { region: inside, form: Form::Values(cut, mask) })
    }

    /// Takes what is left of a level for the next pass.
    fn left(&mut self, level: usize) -> Option<LevelResult> {
        let Data { region, form } = self.made.get_mut(level)?.take()?;
        let (Form::Values(values, _) | Form::Sums(values, _)) = form;
        Some(LevelResult { cells: region, values })
    }
}

fn no_elements() -> Fault {
    Fault::Plan { reason: "a level follows from sums, which its method does not make".to_owned() }
}
