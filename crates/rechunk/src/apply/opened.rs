//! An apply whose operation is built and whose further sources are open.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rechunk_array::Array;
use rechunk_command::CommandSpec;
use rechunk_exec::{WindowOp, Windows};
use rechunk_grid::{DataType, Endian};
use rechunk_ops::{Operation, Output, operation};
use rechunk_plan::{MissingChunks, OpSpec};
use rechunk_store::{Role, Stores};

use super::command::CommandOp;
use super::converted::ConvertedOp;
use super::function::FunctionOp;
use super::named::NamedOp;
use super::result_type::as_results;
use super::{ApplyRequest, Function, OperationRequest};
use crate::Error;
use crate::open::{OpenArray, open_array};
use crate::request::CopyRequest;
use crate::voxel_grid::voxel_grid;
use crate::words::named;

/// An apply whose operation is built and whose further sources are open.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub request: ApplyRequest,
    pub work: Work,
    pub op: Arc<dyn WindowOp>,
    pub spec: OpSpec,
    pub others: Vec<OpenArray>,
    /// Type of results.
    pub output: DataType,
    /// Types of the sources.
    pub types: Vec<DataType>,
    /// Calls of the operation that this process has made.
    pub calls: Arc<AtomicU64>,
    /// Ends programs that run, and calls of functions.
    pub cancel: Arc<AtomicBool>,
    /// Region in parts of voxels, where it was given in a unit of length.
    pub physical: Option<Vec<(f64, f64)>>,
    /// One element of each source, in native byte order, for voxels beyond its border.
    pub constants: Vec<Vec<u8>>,
}

/// Computation of an operation.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    /// One of this program.
    Named(Arc<dyn Operation>),
    /// An external program.
    Command(CommandSpec),
    /// Code of the caller.
    Function(Function),
}

/// Calls so far, and whether more are to be made.
type State = (Arc<AtomicU64>, Arc<AtomicBool>);

/// An operation as it is called.
struct Built {
    work: Work,
    spec: OpSpec,
    op: Arc<dyn WindowOp>,
    output: DataType,
}

impl Built {
    /// Builds an operation of this program.
    fn named(
        operation: Arc<dyn Operation>,
        types: &[DataType],
        calls: Arc<AtomicU64>,
    ) -> Result<Self, Error> {
        if let Output::Statistic(_) = operation.output() {
            return Err(Error::Usage {
                message: format!("`{}` is a statistic: it writes no array", operation.name()),
                hint: Some("leave the target out".into()),
            });
        }
        operation.check_types(types).map_err(Error::operation)?;
        let output = operation.output_type(types[0]).map_err(Error::operation)?;
        let work = Work::Named(Arc::clone(&operation));
        let op = NamedOp { operation, output, calls };
        Ok(Self { work, spec: op.spec(), op: Arc::new(op), output })
    }

    /// Has code of the caller called.
    fn function(function: &Function, types: &[DataType], state: State) -> Result<Self, Error> {
        let op = FunctionOp::new(function, types, state)?;
        let output = function.output_type(types[0]);
        let work = Work::Function(function.clone());
        Ok(Self { work, spec: op.spec(), op: Arc::new(op), output })
    }

    /// Has results cast, where another type is wanted. A cast to a float was made as the source was
    /// read, where the operation keeps it.
    fn cast_to(self, wanted: Option<DataType>) -> Result<Self, Error> {
        let Some(output) = wanted.filter(|&wanted| wanted != self.output) else { return Ok(self) };
        let op = ConvertedOp::new(self.op, self.spec, (self.output, output))?;
        Ok(Self { work: self.work, spec: op.spec(), op: Arc::new(op), output })
    }
}

/// Ends the programs of a run when that is dropped.
#[derive(Debug)]
pub(crate) struct EndPrograms(Arc<AtomicBool>);

impl Drop for EndPrograms {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Opened {
    /// Lets programs run until what is returned is dropped.
    pub(crate) fn let_run(&self) -> EndPrograms {
        self.cancel.store(false, Ordering::Relaxed);
        EndPrograms(Arc::clone(&self.cancel))
    }

    /// Builds the operation of a request and opens its further sources; `None` where it is a copy.
    /// `into` is the type of an array that results go into.
    pub(crate) async fn of(
        request: &CopyRequest,
        source: &OpenArray,
        stores: &Stores,
        into: Option<DataType>,
    ) -> Result<Option<Self>, Error> {
        let Some(apply) = &request.apply else { return Ok(None) };
        let mut others = Vec::with_capacity(apply.sources.len());
        for location in &apply.sources {
            let options = request.open_options();
            let other = Box::pin(open_array(location, &options, stores)).await?;
            if other.spec().shape != source.spec().shape {
                return Err(Error::Usage {
                    message: format!(
                        "{location} has the shape {:?}, and {} {:?}: sources of one operation \
                         have one shape",
                        other.spec().shape,
                        source.location,
                        source.spec().shape
                    ),
                    hint: None,
                });
            }
            others.push(other);
        }
        if matches!(apply.missing, MissingChunks::SkipIfAny | MissingChunks::SkipIfAll) {
            for array in [source].into_iter().chain(&others) {
                array.check_tells_missing_chunks()?;
            }
        }
        let types: Vec<DataType> =
            [source].into_iter().chain(&others).map(|array| array.spec().data_type).collect();
        let wanted = request.cast.as_ref().map(|cast| cast.to().data_type);
        let (calls, cancel) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let built = match &apply.operation {
            OperationRequest::Command(command) => {
                let output = into.or(wanted).unwrap_or(types[0]);
                let state = (Arc::clone(&calls), Arc::clone(&cancel));
                let op = CommandOp::new(command, &types, output, state)?;
                let work = Work::Command(command.clone());
                Built { work, spec: op.spec(), op: Arc::new(op), output }
            }
            OperationRequest::Named { name, settings } => {
                let built = operation(name, settings).map_err(Error::operation)?;
                Built::named(built, &types, Arc::clone(&calls))?.cast_to(into.or(wanted))?
            }
            OperationRequest::Function(function) => {
                let state = (Arc::clone(&calls), Arc::clone(&cancel));
                Built::function(function, &types, state)?.cast_to(into.or(wanted))?
            }
        };
        let all = [source].into_iter().chain(&others);
        let constants = all.map(|array| constant(array, apply.constant.as_deref()));
        let constants = constants.collect::<Result<_, Error>>()?;
        let physical = physical_region(apply, source).await?;
        Ok(Some(Self {
            request: (**apply).clone(),
            work: built.work,
            spec: built.spec,
            op: built.op,
            types,
            others,
            output: built.output,
            calls,
            cancel,
            physical,
            constants,
        }))
    }

    /// The source, as an array of results: the target is specified by it.
    pub(crate) fn results(
        &self,
        request: &CopyRequest,
        source: &OpenArray,
    ) -> Result<OpenArray, Error> {
        if self.request.defer {
            return self.left(request, source);
        }
        as_results(source, self.output)
    }

    /// Returns all that the executor needs. `watched` makes changes of a further source errors.
    pub(crate) fn windows(&self, watched: impl Fn(&OpenArray) -> Array) -> Windows {
        let others = self.others.iter().map(|other| {
            let array = watched(other);
            let store = array.store().with_role(Role::Source);
            array.with_store(store)
        });
        Windows {
            op: Arc::clone(&self.op),
            others: others.collect(),
            constants: self.constants.clone(),
        }
    }
}

/// The region of an apply in parts of voxels, where it was given in a unit of length.
pub(super) async fn physical_region(
    apply: &ApplyRequest,
    source: &OpenArray,
) -> Result<Option<Vec<(f64, f64)>>, Error> {
    let Some(region) = &apply.physical else { return Ok(None) };
    let voxels = voxel_grid(source).await?;
    let region = region.voxels(source.spec(), &voxels);
    region.map(Some).map_err(|error| named("the box", error))
}

/// One element for voxels beyond a source, in native byte order: `text`, or its fill value.
pub(super) fn constant(source: &OpenArray, text: Option<&str>) -> Result<Vec<u8>, Error> {
    let spec = source.spec();
    let Some(text) = text else {
        return Ok(spec.fill_value.as_ref().map_or_else(
            || vec![0; usize::try_from(spec.data_type.item_bytes()).unwrap_or(0)],
            |fill| fill.stored(spec.data_type, Endian::NATIVE),
        ));
    };
    rechunk_ops::element(text, spec.data_type).map_err(|_| Error::Usage {
        message: format!(
            "beyond the border: `{text}` is no {}, as {} has them",
            spec.data_type, source.location
        ),
        hint: None,
    })
}
