//! Gives meaning to the options of an apply.

use rechunk::{
    ApplyRequest, CommandSpec, CopyRequest, Error, Expand, FileFormat, Format, LengthUnit,
    LevelRequest, MissingChunks, Mode, OperationRequest, PhysicalRegion, Returns, Round,
};

use crate::options::{Options, wrong};
use crate::request::{FORMATS, array_options, planning, refuse_plan_options};

/// The apply of `operation` to sources of one shape; `target` is empty for a statistic.
pub(crate) fn apply(
    sources: &[String],
    target: &str,
    operation: OperationRequest,
    options: &mut Options,
) -> Result<CopyRequest, Error> {
    let Some((first, others)) = sources.split_first() else {
        return Err(wrong("source", "there is none", None));
    };
    let is_statistic = operation.is_statistic()?;
    if is_statistic && !(others.is_empty() && target.is_empty()) {
        let text =
            format!("`{}` is a statistic of one source, and has no target", operation.name());
        return Err(wrong("op", &text, None));
    }
    let left = options.text("defer");
    if target.is_empty() && (left.is_some() || !is_statistic) {
        return Err(operation.without_target(left.is_some()));
    }
    let mut request = CopyRequest::new(first, left.as_deref().unwrap_or(target));
    array_options(&mut request, options)?;
    request.format = options.choice("format", Format::from_name, FORMATS)?;
    refuse_plan_options(options, &["strategy", "intermediate", "box_bytes"], "an apply")?;
    request.planning = planning(options)?;
    request.temp = options.text("temp");
    let work = options.parsed("work")?;
    let work = work.ok_or_else(|| wrong("work", "it is missing", Some("give a work chunk")))?;
    let mut apply = ApplyRequest::new(operation, work);
    apply.sources = others.to_vec();
    apply.update = options.flag("update")?;
    apply.defer = left.is_some();
    rules(&mut apply, options)?;
    boxes(&mut apply, options)?;
    request.apply = Some(Box::new(apply));
    Ok(request)
}

fn rules(apply: &mut ApplyRequest, options: &mut Options) -> Result<(), Error> {
    if let Some(text) = options.text("boundary") {
        apply.set_boundary(&text).map_err(|error| error.given_to("boundary"))?;
    }
    apply.missing = options
        .choice("missing", MissingChunks::from_name, "fill, skip-if-any, skip-if-all, error")?
        .unwrap_or_default();
    let round = |name: &str| match name {
        "level" => Some(Round::Level),
        "end" => Some(Round::End),
        _ => None,
    };
    apply.round = options.choice("round", round, "level, end")?.unwrap_or_default();
    apply.blend_labels = options.flag("blend_labels")?;
    Ok(())
}

fn boxes(apply: &mut ApplyRequest, options: &mut Options) -> Result<(), Error> {
    apply.bottom.crop = options.parsed("crop")?;
    apply.bottom.blend = options.parsed("blend")?;
    apply.bottom.mode = options
        .text("blend_mode")
        .map(|text| text.parse::<Mode>())
        .transpose()?
        .unwrap_or_default();
    let levels = options.settings("levels", "work");
    let levels = levels.iter().map(|text| text.parse::<LevelRequest>());
    apply.levels =
        levels.collect::<Result<_, Error>>().map_err(|error| error.given_to("levels"))?;
    let unit = options.text("box_units").filter(|unit| unit != "voxel");
    match unit.map(|unit| unit.parse::<LengthUnit>()).transpose() {
        Ok(None) => apply.region = options.parsed("box")?,
        Ok(Some(unit)) => {
            let missing = || wrong("box_units", "there is no box", Some("give box= too"));
            let text = options.text("box").ok_or_else(missing)?;
            let region = PhysicalRegion::parse(&text, unit);
            apply.physical = Some(region.map_err(|error| Error::from(error).given_to("box"))?);
        }
        Err(error) => return Err(Error::from(error).given_to("box_units")),
    }
    let expand = |name: &str| match name {
        "none" => Some(Expand::None),
        "voxel" => Some(Expand::Voxel),
        "array-chunk" => Some(Expand::ArrayChunk),
        "work" => Some(Expand::Work),
        "both" => Some(Expand::Both),
        _ => None,
    };
    let names = "none, voxel, array-chunk, work, both";
    apply.expand = options.choice("expand", expand, names)?.unwrap_or_default();
    apply.shrink = options.flag("shrink")?;
    apply.auto_divide = options.flag("auto_divide")?;
    apply.gap = options.parsed("gap")?;
    apply.reduce_max = options.parsed("reduce_max")?;
    apply.direct = options.flag("direct")?;
    apply.clip = options.switch("clip")?.unwrap_or(true);
    Ok(())
}

/// The operation that options name: one of this library, or an external program.
pub(crate) fn operation(options: &mut Options) -> Result<OperationRequest, Error> {
    match (options.text("op"), options.text("exec")) {
        (Some(text), _) => OperationRequest::parse(&text),
        (None, Some(text)) => Ok(OperationRequest::Command(command(&text, options)?)),
        (None, None) => {
            let hint = "give a text such as 'gaussian:sigma=2', an Exec or a function";
            Err(wrong("op", "there is no operation", Some(hint)))
        }
    }
}

fn command(text: &str, options: &mut Options) -> Result<CommandSpec, Error> {
    let mut command = CommandSpec::new(text);
    let format = |name: &str| match name {
        "npy" => Some(FileFormat::Npy),
        "tiff" => Some(FileFormat::Tiff),
        "raw" => Some(FileFormat::Raw),
        _ => None,
    };
    command.format = options.choice("exec_format", format, "npy, tiff, raw")?.unwrap_or_default();
    let returns = |name: &str| match name {
        "padded" => Some(Returns::Padded),
        "cropped" => Some(Returns::Cropped),
        _ => None,
    };
    command.returns =
        options.choice("exec_returns", returns, "padded, cropped")?.unwrap_or_default();
    command.jobs = options.number("exec_jobs", &1)?;
    command.memory_bytes = options.bytes("exec_mem")?;
    command.timeout_milliseconds = options
        .duration("exec_timeout")?
        .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    command.retries = options.number("exec_retries", &0)?.unwrap_or(0);
    command.persistent = options.flag("exec_persistent")?;
    Ok(command)
}
