//! `rechunk plan`: with data, or for shapes alone.

use std::process::ExitCode;

use rechunk::planner::baseline::{
    BaselineTraffic, MultistagePlan, PlannerOptions, Rechunking, naive, read_modify_write,
    rechunking_plan, traffic_as_designed, traffic_as_executed,
};
use rechunk::planner::keep::Baseline;
use rechunk::planner::{PlanRequest, Planned, RunsBaseline, RunsSide, Side, plan, runs_baseline};
use rechunk::{DataType, Error, Job, MoreMemory, Prepared, Report, ShardSpec, Strategy};
use rechunk_render::{Sheet, Subject, baseline_text, job_svg, plan_svg, plan_text};
use serde_json::{Value, json};

use crate::args::PlanArgs;
use crate::commands::copy::{one_array, show_plan};
use crate::html_file::HtmlFile;
use crate::request::{self, usage};
use crate::terminal;

const READ_MODIFY_WRITE: &str = "read-modify-write";

pub(crate) async fn run(args: PlanArgs) -> Result<ExitCode, Error> {
    let locations: Vec<&str> =
        [&args.source, &args.target].into_iter().flatten().map(|l| &**l).collect();
    for file in [&args.svg, &args.html, &args.saving.out] {
        terminal::check_apart(file.as_deref(), &locations)?;
    }
    let is_baseline = args.synthetic.baseline.is_some();
    for (is_given, option) in [
        (args.svg.is_some(), "--svg"),
        (args.html.is_some(), "--html"),
        (args.saving.out.is_some(), "--out"),
    ] {
        if is_given && is_baseline {
            let hint = Some("leave --baseline out, or take --json");
            return Err(usage(format!("{option} is not made of a baseline"), hint));
        }
    }
    if args.saving.out.is_some() && args.source.is_none() {
        let hint = Some("name a SOURCE and a TARGET: the plan is to be run");
        return Err(usage("--out is of an array, and --shape plans without one".to_owned(), hint));
    }
    if is_baseline {
        return baseline(&args).await;
    }
    match (&args.source, &args.synthetic.shape) {
        (Some(source), None) => with_data(&args, source).await,
        (None, Some(_)) => without_data(&args),
        _ => Err(usage(
            "nothing to plan: give a SOURCE, or --shape, --dtype, --source-chunks and --chunks"
                .to_owned(),
            None,
        )),
    }
}

async fn with_data(args: &PlanArgs, source: &str) -> Result<ExitCode, Error> {
    let mut copy = open(args, source).await?;
    if args.svg.is_some() {
        one_array(&copy, "--svg")?;
    }
    if let (Some(path), Prepared::Array(job)) = (&args.svg, &copy) {
        terminal::write_file(path, &job_svg(job))?;
    }
    if let Some(path) = &args.html {
        HtmlFile::new(path, Sheet::of_copy(&copy)).write_plan()?;
    }
    if let Some(path) = &args.saving.out {
        save(&copy, path)?;
    }
    show_plan(&copy, &args.output);
    say_missing(copy.check_missing().await);
    Ok(ExitCode::SUCCESS)
}

/// That more is missing of the source than is allowed keeps nobody from planning.
fn say_missing(checked: Result<(), Error>) {
    if let Err(error) = checked {
        terminal::warnings(&[format!("a copy is refused: {}", error.chain().join(": "))]);
    }
}

/// Saves a plan for `rechunk run`.
pub(super) fn save(copy: &Prepared, path: &str) -> Result<(), Error> {
    let saved = copy.saved()?;
    if saved.request().target.is_empty() {
        return Err(usage("--out needs a TARGET: the plan is to be run".to_owned(), None));
    }
    let json = saved.to_json()?;
    terminal::write_file(path, &String::from_utf8_lossy(&json))
}

async fn open(args: &PlanArgs, source: &str) -> Result<Prepared, Error> {
    let target = args.target.as_deref().unwrap_or_default();
    let mut copy =
        request::copy(source, target, &args.target_options, &args.planning, args.temp.as_deref())?;
    copy.planning.workers = args.saving.workers;
    let stores = request::stores(&args.stores)?;
    rechunk::prepare(copy, request::selection(&args.selection)?, &stores).await
}

/// Opens the source like [`open`] where only an array will do.
async fn open_one(args: &PlanArgs, source: &str) -> Result<Box<Job>, Error> {
    match open(args, source).await? {
        Prepared::Array(job) => Ok(job),
        Prepared::Tree(_) => {
            let hint = Some("name one of the arrays of the group");
            Err(usage("--baseline is for one array".to_owned(), hint))
        }
    }
}

fn without_data(args: &PlanArgs) -> Result<ExitCode, Error> {
    let request = synthetic_request(args)?;
    let planned =
        plan(&request).map_err(|error| Error::no_plan(request.budget.memory_bytes, error))?;
    let more_memory = MoreMemory::advice(&request, &planned);
    let mut subject =
        Subject::of_request(&request, args.synthetic.dtype.as_deref().unwrap_or_default());
    subject.advice = more_memory.as_ref().map(MoreMemory::sentence);
    if let Some(path) = &args.svg {
        terminal::write_file(path, &plan_svg(&subject, &planned))?;
    }
    if let Some(path) = &args.html {
        let sheet = Sheet::of_plan(subject.clone(), &request, &planned);
        HtmlFile::new(path, sheet).write_plan()?;
    }
    show(args, &subject, &planned, more_memory);
    Ok(ExitCode::SUCCESS)
}

fn show(args: &PlanArgs, subject: &Subject, planned: &Planned, more_memory: Option<MoreMemory>) {
    if args.output.json {
        terminal::print_json(&Report { more_memory, ..Report::of_plan(planned, &[]) });
    } else if !args.output.quiet {
        terminal::print(&plan_text(subject, planned, true));
    }
}

/// The request of a plan for shapes alone: uncompressed, unless a codec is named.
fn synthetic_request(args: &PlanArgs) -> Result<PlanRequest, Error> {
    let synthetic = &args.synthetic;
    if args.target_options.select.is_some() {
        let hint = Some("give the shape of the region as --shape");
        return Err(usage("--select is of an array, and --shape plans without one".into(), hint));
    }
    if args.target_options.cast.is_some() {
        let hint = Some("--dtype is the type that is planned for");
        return Err(usage("--cast is of an array, and --shape plans without one".into(), hint));
    }
    if args.target_options.append.is_some() || args.target_options.region.is_some() {
        let message = "--append and --region are of an array, and --shape plans without one";
        return Err(usage(message.into(), Some("give the shape of what is added as --shape")));
    }
    let missing = |option: &str| usage(format!("{option} is needed with --shape"), None);
    let shape = request::shape("--shape", synthetic.shape.as_deref().unwrap_or_default())?;
    let dtype = synthetic.dtype.as_deref().ok_or_else(|| missing("--dtype"))?;
    let data_type = DataType::from_name(dtype).ok_or_else(|| {
        let names = DataType::ALL.map(DataType::name).join(", ");
        usage(format!("--dtype: there is no type `{dtype}`"), Some(&names))
    })?;
    let source = synthetic.source_chunks.as_deref().ok_or_else(|| missing("--source-chunks"))?;
    let source = request::shape("--source-chunks", source)?;
    let spec = rechunk::ArraySpec {
        shape: shape.clone(),
        data_type,
        chunk_shape: source.clone(),
        edges: None,
        fill_value: None,
        dimension_names: None,
    };
    spec.grid().map_err(|error| usage(format!("--source-chunks: {error}"), None))?;
    let chunk_bytes = request::bytes("--chunk-bytes", &args.target_options.chunk_bytes)?;
    let chunks = rechunk::ChunkSpec::parse(&args.target_options.chunks)?;
    let chunks = chunks.keeping_extents(args.target_options.keep_extent);
    let target = chunks.resolve(&spec, chunk_bytes)?;
    let shards = args.target_options.shards.as_deref().map(ShardSpec::parse).transpose()?;
    let keeps_extents = args.target_options.keep_extent;
    let shard = rechunk::plan_shards(shards.as_ref(), &spec, &target, keeps_extents)?;
    let mut planning = request::planning(&args.planning)?;
    planning.workers = args.saving.workers;
    let item_bytes = data_type.item_bytes();
    let source_runs = runs(args.target_options.raw.source_format.as_deref(), &source);
    let target_runs = runs(args.target_options.format.as_deref(), &target);
    Ok(PlanRequest {
        shape,
        item_bytes,
        source: Side { runs: source_runs, ..Side::raw(&source, item_bytes) },
        target: Side { shard, runs: target_runs, ..Side::raw(&target, item_bytes) },
        is_variable: false,
        same_encoding: true,
        same_shards: false,
        store_can_copy: false,
        keeps_absence: false,
        budget: planning.budget(),
        profile: planning.profile(["", args.temp.as_deref().unwrap_or_default(), ""])?,
        strategy: planning.strategy,
        intermediate_grid: planning.intermediate_grid,
        intermediate_in_memory: args.temp.as_deref() == Some("memory:"),
    })
}

/// Files of `chunk` in C order, if the format is raw.
fn runs(format: Option<&str>, chunk: &[u64]) -> Option<RunsSide> {
    (format == Some("raw")).then(|| RunsSide {
        block_shape: chunk.to_vec(),
        order: (0..chunk.len()).collect(),
        offset_bytes: 0,
    })
}

/// An export that changes objects in place, and what it would move and cost.
async fn read_modify_write_baseline(args: &PlanArgs) -> Result<ExitCode, Error> {
    let request = match &args.source {
        Some(source) => *open_one(args, source).await?.plan_request,
        None => synthetic_request(args)?,
    };
    let estimate = read_modify_write(&request);
    let report = json!({
        "baseline": READ_MODIFY_WRITE,
        "seconds": estimate.seconds,
        "usd": estimate.usd,
        "estimate": { "source": estimate.source, "target": estimate.target },
        "price": estimate.price,
    });
    show_baseline(args, &report);
    Ok(ExitCode::SUCCESS)
}

/// The literature's plan, and what it would move.
async fn baseline(args: &PlanArgs) -> Result<ExitCode, Error> {
    if args.synthetic.baseline.as_deref() == Some(READ_MODIFY_WRITE) {
        return read_modify_write_baseline(args).await;
    }
    let mut planning = request::planning(&args.planning)?;
    planning.strategy = Strategy::Auto;
    let (shape, source, target, item_bytes, runs) = if let Some(source) = &args.source {
        let plan = open_one(args, source).await?.planned.plan;
        let (source, target) = (plan.source(), plan.target());
        let runs = source.runs.clone().zip(target.runs.clone());
        // The literature knows no shards: to it, what is written at once is a chunk.
        let written = target.commit_shape().to_vec();
        (source.shape.clone(), source.chunk.clone(), written, source.item_bytes, runs)
    } else {
        let request = synthetic_request(args)?;
        let target = request.target.commit_shape().to_vec();
        let runs = request.source.runs.zip(request.target.runs);
        (request.shape, request.source.chunk_shape, target, request.item_bytes, runs)
    };
    let budget = planning.budget();
    let name = args.synthetic.baseline.as_deref().unwrap_or_default();
    match (Baseline::from_name(name), &runs) {
        (Some(baseline), Some((source, target))) => {
            let memory_bytes = budget.box_bytes.unwrap_or(budget.memory_bytes);
            let found = runs_baseline(baseline, &shape, item_bytes, (source, target), memory_bytes)
                .map_err(|error| Error::no_plan(memory_bytes, error))?;
            show_baseline(args, &runs_report(baseline, found.as_ref())?);
            return Ok(ExitCode::SUCCESS);
        }
        (Some(Baseline::Naive) | None, _) => {}
        (Some(baseline), None) => {
            let name = baseline.name();
            let why = format!("--baseline {name} is for raw files: source and target must be raw");
            return Err(usage(why, None));
        }
    }
    let rechunking = Rechunking {
        shape: &shape,
        source_chunks: &source,
        target_chunks: &target,
        itemsize_bytes: item_bytes,
    };
    let options = PlannerOptions {
        intermediate_bytes_min: item_bytes,
        memory_bytes_max: budget.box_bytes.unwrap_or(budget.memory_bytes),
        consolidate_reads: !args.synthetic.no_consolidate_reads,
        consolidate_writes: !args.synthetic.no_consolidate_writes,
    };
    let refused = |error: rechunk::planner::baseline::BaselineError| {
        usage(format!("the baseline refuses: {error}"), None)
    };
    let report = if name == "naive" {
        let traffic = naive(&rechunking).map_err(refused)?;
        json!({ "baseline": "naive", "write_box": target, "estimate": estimate(&traffic) })
    } else {
        let boxes = rechunking_plan(&rechunking, &options).map_err(refused)?;
        let is_direct = boxes.is_direct();
        let plan = MultistagePlan {
            stages: vec![boxes.clone()],
            io_ops: Vec::new(),
            excessive_io_warning: false,
        };
        let designed = traffic_as_designed(&rechunking, &plan).map_err(refused)?;
        let executed = traffic_as_executed(&rechunking, &plan).map_err(refused)?;
        json!({
            "baseline": "ppc",
            "read_box": boxes.read,
            "intermediate_chunk": if is_direct { Value::Null } else { json!(boxes.intermediate) },
            "write_box": boxes.write,
            "estimate": estimate(&designed),
            "estimate_as_executed": estimate(&executed),
        })
    };
    show_baseline(args, &report);
    Ok(ExitCode::SUCCESS)
}

fn show_baseline(args: &PlanArgs, report: &Value) {
    if args.output.json {
        terminal::print_json(report);
    } else {
        terminal::print(&baseline_text(report));
    }
}

fn runs_report(baseline: Baseline, found: Option<&RunsBaseline>) -> Result<Value, Error> {
    let name = baseline.name();
    let Some(RunsBaseline { schedule, memory_bytes, estimate }) = found else {
        return Err(usage(format!("the baseline {name} has no schedule in this memory"), None));
    };
    Ok(json!({
        "baseline": name,
        "buffer": schedule.buffer,
        "kept": schedule.kept,
        "step_axes": schedule.step_axes,
        "memory_bytes": memory_bytes,
        "estimate": { "source": estimate.source, "target": estimate.target },
    }))
}

fn estimate(traffic: &BaselineTraffic) -> Value {
    let role = |get: u64, put: u64, read: u64, written: u64| {
        json!({
            "get_requests": get,
            "put_requests": put,
            "decoded_read_bytes": read,
            "decoded_written_bytes": written,
            "objects": put,
        })
    };
    json!({
        "source": role(traffic.source_get, 0, traffic.source_bytes, 0),
        "intermediate": role(
            traffic.intermediate_get,
            traffic.intermediate_put,
            traffic.intermediate_read_bytes,
            traffic.intermediate_written_bytes,
        ),
        "target": role(0, traffic.target_put, 0, traffic.target_bytes),
    })
}
