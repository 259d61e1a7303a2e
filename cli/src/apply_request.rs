//! Gives meaning to the arguments of `apply`.

use rechunk::{
    ApplyRequest, CommandSpec, CopyRequest, Error, Expand, FileFormat, Format, LevelRequest,
    MissingChunks, Mode, OperationRequest, Pads, PhysicalRegion, Returns, Round, WordError,
    WriteEmpty,
};

use crate::args::{ApplyArgs, BoxArgs, OperationArgs};
use crate::request::{
    axes, bytes, duration, parsed, planning, raw, refuse_plan_options, source_format, usage,
};

/// The request of an apply.
pub(crate) fn of_apply(args: &ApplyArgs) -> Result<CopyRequest, Error> {
    let asked = operation(&args.operation)?;
    let is_statistic = asked.is_statistic()?;
    let (source, others, target) = match &args.locations[..] {
        [source] if is_statistic && args.boxes.defer.is_none() => (source, &[][..], ""),
        [source, others @ .., target] if !is_statistic => (source, others, &target[..]),
        _ if is_statistic && args.boxes.defer.is_none() => {
            let message =
                format!("`{}` is a statistic of one source, and has no target", asked.name());
            return Err(usage(message, None));
        }
        _ => return Err(asked.without_target(args.boxes.defer.is_some())),
    };
    let left = args.boxes.defer.as_deref();
    let mut request = CopyRequest::new(source, left.unwrap_or(target));
    let options = &args.target_options;
    request.chunks = options.chunks.parse()?;
    request.shards = parsed(options.shards.as_deref())?;
    request.format = options.format.as_deref().and_then(Format::from_name);
    request.codec = parsed(options.codec.as_deref())?;
    request.cast = parsed(options.cast.as_deref())?;
    request.write_empty = WriteEmpty::from_name(&options.write_empty).unwrap_or_default();
    request.axes = axes(options.axes.as_deref());
    request.raw = raw(&options.raw)?;
    request.source_format = source_format(&options.raw)?;
    refuse_plan_options(&args.planning, "an apply")?;
    request.planning = planning(&args.planning)?;
    request.planning.workers = args.saving.workers;
    request.temp.clone_from(&args.running.temp);
    let mut apply = ApplyRequest::new(asked, args.boxes.work.parse()?);
    apply.sources = others.to_vec();
    apply.update = args.update;
    of_operation(&mut apply, &args.operation)?;
    of_boxes(&mut apply, &args.boxes)?;
    request.apply = Some(Box::new(apply));
    Ok(request)
}

fn operation(args: &OperationArgs) -> Result<OperationRequest, Error> {
    match (&args.op, &args.exec) {
        (Some(_), Some(_)) => Err(Error::Apply {
            code: "OP_TWICE",
            message: "there are two operations, --op and --exec".to_owned(),
            proposal: None,
        }),
        (Some(text), None) => OperationRequest::parse(text),
        (None, Some(text)) => Ok(OperationRequest::Command(command(text, args)?)),
        (None, None) => Err(Error::Apply {
            code: "OP_MISSING",
            message: "there is no operation".to_owned(),
            proposal: Some("--op identity".to_owned()),
        }),
    }
}

fn command(text: &str, args: &OperationArgs) -> Result<CommandSpec, Error> {
    let mut command = CommandSpec::new(text);
    command.format = match args.exec_format.as_str() {
        "tiff" => FileFormat::Tiff,
        "raw" => FileFormat::Raw,
        _ => FileFormat::Npy,
    };
    command.returns = match args.exec_returns.as_str() {
        "cropped" => Returns::Cropped,
        _ => Returns::Padded,
    };
    command.jobs = args.exec_jobs;
    command.memory_bytes =
        args.exec_mem.as_deref().map(|text| bytes("--exec-mem", text)).transpose()?;
    let timeout = args.exec_timeout.as_deref().map(|text| duration("--exec-timeout", text));
    command.timeout_milliseconds =
        timeout.transpose()?.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    command.retries = args.exec_retries;
    command.persistent = args.exec_persistent;
    Ok(command)
}

fn of_operation(apply: &mut ApplyRequest, args: &OperationArgs) -> Result<(), Error> {
    apply.set_boundary(&args.boundary).map_err(|error| error.given_to("--boundary"))?;
    apply.missing = MissingChunks::from_name(&args.missing).unwrap_or_default();
    apply.round = if args.round == "end" { Round::End } else { Round::Level };
    apply.blend_labels = args.blend_labels;
    Ok(())
}

fn of_boxes(apply: &mut ApplyRequest, args: &BoxArgs) -> Result<(), Error> {
    apply.bottom.crop = pads("--crop", args.crop.as_deref())?;
    apply.bottom.blend = pads("--blend", args.blend.as_deref())?;
    apply.bottom.mode = mode(&args.blend_mode)?;
    apply.levels = args
        .level
        .iter()
        .map(|text| text.parse::<LevelRequest>().map_err(|error| error.given_to("--level")))
        .collect::<Result<_, Error>>()?;
    match (args.box_units.as_str(), &args.region) {
        ("voxel", region) => apply.region = parsed(region.as_deref())?,
        (unit, Some(region)) => {
            let unit = unit
                .parse()
                .map_err(|error: WordError| Error::from(error).given_to("--box-units"))?;
            let region = PhysicalRegion::parse(region, unit);
            apply.physical = Some(region.map_err(|error| Error::from(error).given_to("--box"))?);
        }
        (_, None) => {
            let hint = Some("give the box too: --box z=0:2.5");
            return Err(usage("--box-units without --box".to_owned(), hint));
        }
    }
    apply.expand = match args.expand.as_str() {
        "voxel" => Expand::Voxel,
        "array-chunk" => Expand::ArrayChunk,
        "work" => Expand::Work,
        "both" => Expand::Both,
        _ => Expand::None,
    };
    apply.shrink = args.shrink;
    apply.auto_divide = args.auto_divide;
    apply.gap = pads("--gap", args.gap.as_deref())?;
    apply.reduce_max = parsed(args.reduce_max.as_deref())?;
    apply.direct = args.direct;
    apply.defer = args.defer.is_some();
    apply.clip = !args.no_clip;
    Ok(())
}

fn pads(option: &str, text: Option<&str>) -> Result<Option<Pads>, Error> {
    parsed(text).map_err(|error| error.given_to(option))
}

fn mode(text: &str) -> Result<Mode, Error> {
    text.parse().map_err(Error::from)
}
