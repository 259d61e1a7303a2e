//! Code of the caller as an operation.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rechunk_apply::OpOutput;
use rechunk_exec::{WindowCall, WindowInput, WindowOp};
use rechunk_grid::{DataType, buffer_bytes, format_shape};
use rechunk_plan::OpSpec;
use serde::{Deserialize, Serialize};

use super::Pads;
use super::boxes::{pads, spans};
use crate::Error;

/// Setting of the operation in plans: its results are made by code that no plan has.
const FUNCTION: &str = "function";

type Body = dyn Fn(FunctionCall) -> Result<OpOutput, String> + Send + Sync;

/// Code of the caller as an operation, and all that a plan has to know of it.
///
/// The code is called from several threads at once, and again for a box whose task is done again.
/// It is to give the same elements for the same windows, whatever thread it is on.
///
/// The code itself is no part of a job: a run is gone on with ([`crate::Existing::Resume`]) by a
/// function of the same `name`, `halo`, `output` and `gives_labels`, which the caller hands in
/// again. A job of another one is refused. A plan with a function cannot be saved in a file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Function {
    /// Name that says which function it is, with all settings that decide its results.
    pub name: String,
    /// Elements around each one that its result depends on: the crop `auto`. `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halo: Option<Pads>,
    /// Type of its results; `None`: that of the first source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<DataType>,
    /// Results are names: no weighted mean is made of them unless that is asked for.
    #[serde(default)]
    pub gives_labels: bool,
    /// Bytes that a call takes beside its windows and its result, at most.
    #[serde(skip)]
    pub scratch_bytes: u64,
    /// Further boxes of the size of its result that a call takes.
    #[serde(skip)]
    pub result_copies: u32,
    /// Most calls at once; `None`: as many as there are threads.
    #[serde(skip)]
    pub calls_at_once: Option<u32>,
    /// The code; `None` where a job was read from a file, which has only what decides results.
    #[serde(skip)]
    body: Option<Arc<Body>>,
}

/// One call of a [`Function`]. Boxes are start and end along each axis, slowest first.
#[derive(Debug)]
#[non_exhaustive]
pub struct FunctionCall {
    /// Windows of the sources, all of one shape: the function's own, to be kept or changed.
    pub inputs: Vec<WindowInput>,
    /// Type of the elements that it gives.
    pub output: DataType,
    /// Number of the task.
    pub task: u64,
    /// Index of the task in the grid of work chunks of the top level.
    pub index: Vec<u64>,
    /// Number of the call within its task.
    pub number: u64,
    /// Box of the windows in their arrays: negative, or beyond the array, where the border cuts it.
    pub read: Vec<(i64, i64)>,
    /// Box whose results are taken: a work chunk, grown by the blend.
    pub keep: Vec<(i64, i64)>,
    /// Elements of a window before and after those of `keep`: the crop.
    pub pads: Vec<(u64, u64)>,
}

impl FunctionCall {
    /// Shape of [`OpOutput::Padded`]: that of the windows.
    pub fn padded_shape(&self) -> Vec<u64> {
        extents(&self.read)
    }

    /// Shape of [`OpOutput::Cropped`].
    pub fn cropped_shape(&self) -> Vec<u64> {
        extents(&self.keep)
    }
}

fn extents(bounds: &[(i64, i64)]) -> Vec<u64> {
    bounds.iter().map(|(start, end)| end.abs_diff(*start)).collect()
}

impl Function {
    /// An operation that `body` computes. It gives elements of the first source's type, or of
    /// [`Function::output`], in C order without gaps and in native byte order, for the windows or
    /// without their crop, or nothing at all; or it says in words why it cannot.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let at = |name: &str| folder.path().join(name).display().to_string();
    /// # let (source, target) = (at("source.zarr"), at("target.zarr"));
    /// # std::fs::create_dir(&source)?;
    /// # std::fs::write(source.clone() + "/.zarray", r#"{"zarr_format": 2, "shape": [4, 6],
    /// #     "chunks": [2, 6], "dtype": "|u1", "compressor": null, "filters": null,
    /// #     "fill_value": 3, "order": "C"}"#)?;
    /// use std::sync::Arc;
    /// use rechunk::{
    ///     ApplyRequest, CancellationToken, CopyRequest, Existing, Function, Job, NullObserver,
    ///     OpOutput, OpenOptions, OperationRequest, Running, Stores, open_array,
    /// };
    ///
    /// let invert = Function::new("invert", |call| {
    ///     let bytes = call.inputs[0].bytes.iter().map(|element| !element);
    ///     Ok(OpOutput::Padded(bytes.collect()))
    /// });
    /// let mut request = CopyRequest::new(&source, &target);
    /// let apply = ApplyRequest::new(OperationRequest::Function(invert), "2,6".parse()?);
    /// request.apply = Some(Box::new(apply));
    /// let job = Job::prepare(request, &Stores::default()).await?;
    /// let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
    /// let report = job.run(Running::new(Existing::Refuse), observer, cancel).await?;
    /// assert_eq!(report.apply.map(|apply| apply.op_calls), Some(2));
    /// let array = open_array(&target, &OpenOptions::default(), &Stores::default()).await?;
    /// assert_eq!(array.read_region_as::<u8>([0..1, 0..2]).await?, [252, 252]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new<F>(name: impl Into<String>, body: F) -> Self
    where
        F: Fn(FunctionCall) -> Result<OpOutput, String> + Send + Sync + 'static,
    {
        Self {
            name: name.into(),
            halo: None,
            output: None,
            gives_labels: false,
            scratch_bytes: 0,
            result_copies: 0,
            calls_at_once: None,
            body: Some(Arc::new(body)),
        }
    }

    /// Type of results for a first source of type `input`.
    pub(super) fn output_type(&self, input: DataType) -> DataType {
        self.output.unwrap_or(input)
    }

    /// Bytes that a call with results of `shape` takes beside windows and result.
    pub(super) fn scratch_bytes(&self, shape: &[u64], input: DataType) -> u64 {
        let item_bytes = self.output_type(input).item_bytes();
        let result = shape.iter().fold(item_bytes, |bytes, &n| bytes.saturating_mul(n));
        self.scratch_bytes.saturating_add(result.saturating_mul(self.result_copies.into()))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Two functions are equal if one may go on with what the other has begun.
impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        let of = |function: &Self| (function.output, function.gives_labels);
        self.name == other.name && self.halo == other.halo && of(self) == of(other)
    }
}

/// A function as the executor calls it.
pub(super) struct FunctionOp {
    body: Arc<Body>,
    spec: OpSpec,
    output: DataType,
    calls: Arc<AtomicU64>,
    cancel: Arc<AtomicBool>,
}

impl FunctionOp {
    /// A function that is called until `cancel` becomes true, for sources of these types.
    pub(super) fn new(
        function: &Function,
        inputs: &[DataType],
        (calls, cancel): (Arc<AtomicU64>, Arc<AtomicBool>),
    ) -> Result<Self, Error> {
        let name = function.name.clone();
        let refused = |message: String, hint: &str| {
            let hint = Some(hint.into());
            Err(Error::Usage { message, hint })
        };
        if name.is_empty() {
            return refused("the function has no name".to_owned(), "give it one");
        }
        let Some(body) = &function.body else {
            let message = format!("the function `{name}` is not here: a file has its name alone");
            return refused(message, "apply it in a program that has it");
        };
        let output = function.output_type(inputs[0]);
        if let Some(other) = inputs.iter().chain([&output]).find(|given| given.is_variable()) {
            let message = format!("the function `{name}`: elements of the type {other} are no box");
            return refused(message, "elements of a fixed size are");
        }
        let settings = [(FUNCTION, "1".to_owned()), ("output", output.name())];
        let settings = settings.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let spec = OpSpec { name, settings };
        Ok(Self { body: Arc::clone(body), spec, output, calls, cancel })
    }

    /// The operation as a plan names it.
    pub(super) fn spec(&self) -> OpSpec {
        self.spec.clone()
    }
}

impl fmt::Debug for FunctionOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionOp").field("spec", &self.spec).finish_non_exhaustive()
    }
}

impl WindowOp for FunctionOp {
    fn computes(&self, spec: &OpSpec, _: &[DataType]) -> bool {
        *spec == self.spec
    }

    fn run(&self, call: WindowCall<'_>) -> Result<OpOutput, String> {
        // A task of many calls would else go on after its run has ended.
        if self.cancel.load(Ordering::Relaxed) {
            return Err("was not called: the run has ended".to_owned());
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        let (task, tile) = (call.task, call.tile);
        let call = FunctionCall {
            inputs: call.inputs,
            output: self.output,
            task: task.ordinal,
            index: task.index.clone(),
            number: tile.number,
            read: spans(&tile.read),
            keep: spans(&tile.task_box),
            pads: pads(tile),
        };
        let (padded, cropped) = (call.padded_shape(), call.cropped_shape());
        let output = (self.body)(call)?;
        let (shape, given) = match &output {
            OpOutput::Padded(bytes) => (padded, bytes.len()),
            OpOutput::Cropped(bytes) => (cropped, bytes.len()),
            OpOutput::Skip => return Ok(output),
        };
        if buffer_bytes(&shape, self.output) == Some(given) {
            return Ok(output);
        }
        let (shape, data_type) = (format_shape(&shape), self.output);
        Err(format!("gave {given} bytes, which are not {shape} elements of {data_type}"))
    }
}
