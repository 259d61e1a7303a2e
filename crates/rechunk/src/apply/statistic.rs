//! A statistic of an array: an apply without a target.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rechunk_apply::OpOutput;
use rechunk_exec::{Execution, Observer, Sink, WindowCall, WindowOp, run};
use rechunk_grid::{DataType, WriteEmpty};
use rechunk_ops::{Operation, Output, Partial, operation};
use rechunk_plan::{OpSpec, Plan};
use rechunk_store::{Meter, Stores, Traffic};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::named::{context, spec_of, view};
use super::opened::{Work, constant, physical_region};
use super::{ApplyReport, Opened, OperationRequest};
use crate::open::{OpenArray, open_array};
use crate::plan_request::plan_request;
use crate::report::{MemoryReport, PlanReport};
use crate::request::CopyRequest;
use crate::sample::sample_ratio;
use crate::{Error, Estimate};

/// A statistic, with the plan and the traffic of reading it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StatisticReport {
    /// The statistic: an object that differs from operation to operation.
    pub statistic: serde_json::Value,
    /// The apply.
    pub apply: Option<ApplyReport>,
    /// The plan.
    pub plan: PlanReport,
    /// Predicted traffic.
    pub estimate: Estimate,
    /// Counted traffic.
    pub traffic: Traffic,
    /// Memory.
    pub memory: MemoryReport,
    /// Wall time, seconds.
    pub elapsed_seconds: f64,
}

/// Measures each box, and merges the parts.
#[derive(Debug)]
struct Measuring {
    operation: Arc<dyn Operation>,
    spec: OpSpec,
    sum: Mutex<Option<Partial>>,
    calls: Arc<std::sync::atomic::AtomicU64>,
}

impl WindowOp for Measuring {
    fn computes(&self, spec: &OpSpec, inputs: &[DataType]) -> bool {
        *spec == self.spec && self.operation.check_types(inputs).is_ok()
    }

    fn run(&self, call: WindowCall<'_>) -> Result<OpOutput, String> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let Output::Statistic(statistic) = self.operation.output() else {
            return Err("is no statistic".to_owned());
        };
        let [input] = &call.inputs[..] else { return Err("takes one source".to_owned()) };
        let context = context(&call.tile.read, &call.tile.keep);
        let text = |error: rechunk_ops::OpError| error.to_string();
        let part = statistic.measure(&view(input), &context).map_err(text)?;
        let mut sum = self.sum.lock().unwrap_or_else(PoisonError::into_inner);
        match sum.as_mut() {
            Some(sum) => statistic.merge(sum, &part).map_err(text)?,
            None => *sum = Some(part),
        }
        Ok(OpOutput::Skip)
    }
}

/// The statistic of a request, and the sum of what it measures.
async fn opened(
    request: &CopyRequest,
    source: &OpenArray,
) -> Result<(Opened, Arc<Measuring>), Error> {
    let missing = || Error::Usage { message: "there is no operation".to_owned(), hint: None };
    let apply = request.apply.as_ref().ok_or_else(missing)?;
    let OperationRequest::Named { name, settings } = &apply.operation else {
        return Err(missing());
    };
    let operation = operation(name, settings).map_err(Error::operation)?;
    if !matches!(operation.output(), Output::Statistic(_)) {
        return Err(Error::Usage { message: format!("`{name}` is no statistic"), hint: None });
    }
    let output = source.spec().data_type;
    operation.check_types(&[output]).map_err(Error::operation)?;
    let (spec, calls) = (spec_of(operation.as_ref()), Arc::default());
    let measuring = Arc::new(Measuring {
        operation: Arc::clone(&operation),
        spec: spec.clone(),
        sum: Mutex::new(None),
        calls: Arc::clone(&calls),
    });
    let mut request = (**apply).clone();
    request.direct = true; // there is nothing to combine
    let opened = Opened {
        physical: physical_region(apply, source).await?,
        constants: vec![constant(source, request.constant.as_deref())?],
        request,
        work: Work::Named(operation),
        op: Arc::clone(&measuring) as _,
        spec,
        others: Vec::new(),
        output,
        types: vec![output],
        calls,
        cancel: Arc::default(),
    };
    Ok((opened, measuring))
}

/// Computes the statistic that `request` asks for; its target is not looked at. Nothing is
/// written, so an interrupted one begins again.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let source = folder.path().join("source.zarr").display().to_string();
/// # std::fs::create_dir(&source)?;
/// # std::fs::write(source.clone() + "/.zarray", r#"{"zarr_format": 2, "shape": [4, 6],
/// #     "chunks": [1, 6], "dtype": "<f4", "compressor": null, "filters": null,
/// #     "fill_value": 3, "order": "C"}"#)?;
/// use std::sync::Arc;
/// use rechunk::{
///     ApplyRequest, CancellationToken, CopyRequest, NullObserver, OperationRequest, Stores,
///     statistic,
/// };
///
/// let mut request = CopyRequest::new(&source, "");
/// let operation = OperationRequest::parse("min-max-mean")?;
/// request.apply = Some(Box::new(ApplyRequest::new(operation, "2,6".parse()?)));
/// let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
/// let found = statistic(&request, &Stores::default(), observer, cancel).await?;
/// assert_eq!(found.statistic["max"], 3.0);
/// # Ok(())
/// # }
/// ```
pub async fn statistic(
    request: &CopyRequest,
    stores: &Stores,
    observer: Arc<dyn Observer>,
    cancel: CancellationToken,
) -> Result<StatisticReport, Error> {
    let of_run = Some((observer, cancel));
    Box::pin(measured(request, stores, of_run)).await
}

/// Plans what [`statistic`] would read; the statistic of the report is null.
pub async fn statistic_plan(
    request: &CopyRequest,
    stores: &Stores,
) -> Result<StatisticReport, Error> {
    Box::pin(measured(request, stores, None)).await
}

async fn measured(
    request: &CopyRequest,
    stores: &Stores,
    of_run: Option<(Arc<dyn Observer>, CancellationToken)>,
) -> Result<StatisticReport, Error> {
    #[expect(clippy::disallowed_methods, reason = "a report says how long it took")]
    let started = Instant::now();
    let stores = stores.with_meter(&Meter::new());
    let source = open_array(&request.source, &request.open_options(), &stores).await?;
    let (applied, measuring) = opened(request, &source).await?;
    let layout = Arc::clone(source.array.layout());
    let ratio = sample_ratio(&source).await?;
    let plan_request = plan_request(request, &source, &layout, ratio, &stores)?;
    let (planned, _) = applied.plan(&plan_request, source.spec(), None)?;
    let value = match of_run {
        Some(of_run) => {
            Box::pin(run_plan(&applied, &source, &planned.plan, of_run)).await?;
            measuring.finish(source.spec().data_type)?
        }
        None => serde_json::Value::Null,
    };
    let mut apply = ApplyReport::of(&planned.plan);
    if let Some(apply) = apply.as_mut().filter(|_| !value.is_null()) {
        apply.op_calls = applied.calls.load(Ordering::Relaxed);
    }
    Ok(StatisticReport {
        statistic: value,
        apply,
        plan: PlanReport::new(&planned.plan),
        estimate: planned.plan.estimate.clone(),
        traffic: stores.meter().traffic(),
        memory: MemoryReport::of_plan(&planned.plan).with_peak(),
        elapsed_seconds: started.elapsed().as_secs_f64(),
    })
}

impl Measuring {
    /// The value of all that was measured, of elements of this type.
    fn finish(&self, data_type: DataType) -> Result<serde_json::Value, Error> {
        let sum = self.sum.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Output::Statistic(statistic) = self.operation.output() else {
            return Err(Error::Usage { message: "it is no statistic".to_owned(), hint: None });
        };
        let sum = sum.map_or_else(|| statistic.empty(data_type), Ok);
        sum.and_then(|sum| statistic.finish(&sum)).map_err(Error::operation)
    }
}

/// Runs the plan of a statistic.
async fn run_plan(
    applied: &Opened,
    source: &OpenArray,
    plan: &Plan,
    (observer, cancel): (Arc<dyn Observer>, CancellationToken),
) -> Result<(), Error> {
    let execution = Execution {
        plan: plan.clone(),
        tasks: None,
        source: source.array.clone(),
        sink: Sink::Digest { array: source.array.clone(), of_encoded_chunks: false },
        intermediate: None,
        write_empty: WriteEmpty::Auto,
        takes_digest: false,
        in_place: false,
        list_after_missing: None,
        ops: Vec::new(),
        levels: Vec::new(),
        windows: Some(applied.windows(|other| other.array.clone())),
    };
    let outcome = run(Arc::new(execution), None, observer, cancel).await;
    outcome.map(drop).map_err(|source| {
        let (done, resumed, hint) = (0, 0, None);
        Error::Run { done, resumed, total: plan.task_count(), hint, source: Box::new(source) }
    })
}
