//! Gives meaning to typed arguments: they become the library's requests.

use std::str::FromStr;
use std::time::Duration;

use rechunk::{
    Axes, Coords, CopyRequest, Dialect, Error, Existing, Format, IntermediateGrid, OpenOptions,
    PathPattern, Placement, Planning, ProfileFile, RawFile, Remedy, Running, Selection, StagePart,
    StoreOptions, Stores, Strategy, WordError, WriteEmpty, parse_byte_size, parse_duration,
};

use crate::args::{
    CopyArgs, PlanningArgs, RawArgs, RunningArgs, SelectionArgs, StoreArgs, TargetArgs,
};

/// A usage error.
pub(crate) fn usage(message: String, hint: Option<&str>) -> Error {
    Error::Usage { message, hint: hint.map(Remedy::from) }
}

/// A byte size given to `option`.
pub(crate) fn bytes(option: &str, text: &str) -> Result<u64, Error> {
    parse_byte_size(text).ok_or_else(|| {
        usage(format!("{option}: `{text}` is not a size"), Some("write it like 512MiB or 2GB"))
    })
}

/// The part of a stage: a share given to `--part`, or numbers given to `--tasks`.
pub(crate) fn part(share: Option<&str>, tasks: Option<&str>) -> Result<Option<StagePart>, Error> {
    let of = |option: &str, text: &str| {
        let named =
            |error: WordError| usage(format!("{option}: {}", error.message), error.hint.as_deref());
        let part = StagePart::parse(text).map_err(named)?;
        if matches!(part, StagePart::Share(_)) != (option == "--part") {
            let hint = "--part takes a share like 0/40, --tasks numbers like 0..4";
            return Err(usage(format!("{option}: `{text}` is the other one"), Some(hint)));
        }
        Ok(part)
    };
    let tasks = tasks.map(|text| of("--tasks", text));
    share.map(|text| of("--part", text)).or(tasks).transpose()
}

/// `4,5,6`.
pub(crate) fn shape(option: &str, text: &str) -> Result<Vec<u64>, Error> {
    let numbers = text.split(',').map(str::trim).filter(|number| !number.is_empty());
    numbers
        .map(|number| {
            number.parse().map_err(|_| {
                usage(format!("{option}: `{number}` is not a number of elements"), None)
            })
        })
        .collect()
}

/// Returns the opener of stores.
pub(crate) fn stores(args: &StoreArgs) -> Result<Stores, Error> {
    store_options(args).map(Stores::new)
}

/// Returns the opener of stores that get no more than `concurrency` requests at once.
pub(crate) fn planned_stores(args: &StoreArgs, concurrency: Option<u32>) -> Result<Stores, Error> {
    let options = store_options(args)?;
    Ok(Stores::new(match concurrency {
        Some(concurrency) => options.with_concurrency(concurrency),
        None => options,
    }))
}

fn store_options(args: &StoreArgs) -> Result<StoreOptions, Error> {
    let mut options = StoreOptions::default();
    for option in &args.store_option {
        options.add(option).map_err(|error| usage(error.to_string(), None))?;
    }
    if let Some(max_retries) = args.max_retries {
        options = options.with_max_retries(max_retries);
    }
    if let Some(text) = &args.timeout {
        options = options.with_timeout(duration("--timeout", text)?);
    }
    if let Some(text) = &args.bwlimit {
        let rate = bytes("--bwlimit", text.trim_end_matches("/s"))?;
        if rate == 0 {
            let hint = Some("leave it out for no limit");
            return Err(usage("--bwlimit: nothing can be moved at 0 bytes a second".into(), hint));
        }
        options = options.with_bytes_per_second(rate);
    }
    Ok(options)
}

/// The time given to `option`.
pub(crate) fn duration(option: &str, text: &str) -> Result<Duration, Error> {
    parse_duration(text).ok_or_else(|| {
        usage(format!("{option}: `{text}` is not a time"), Some("write it like 90, 90s or 5m"))
    })
}

/// Planning options.
pub(crate) fn planning(args: &PlanningArgs) -> Result<Planning, Error> {
    let size =
        |option, text: &Option<String>| text.as_deref().map(|text| bytes(option, text)).transpose();
    let mut planning = Planning::default();
    planning.memory_bytes = size("--max-mem", &args.max_mem)?;
    planning.threads = args.threads;
    planning.concurrency = args.concurrency;
    planning.strategy = Strategy::from_name(&args.strategy).unwrap_or(Strategy::Auto);
    planning.intermediate_grid =
        IntermediateGrid::from_name(&args.intermediate).unwrap_or_default();
    planning.box_bytes = size("--box-bytes", &args.box_bytes)?;
    planning.workers = 1;
    planning.store_copies = true;
    planning.candidates = true;
    planning.profiles =
        [args.source_profile.clone(), args.temp_profile.clone(), args.target_profile.clone()];
    planning.profile = args.profile.as_deref().map(ProfileFile::read).transpose()?;
    Ok(planning)
}

/// Request of `copy`.
pub(crate) fn of_copy(args: &CopyArgs) -> Result<CopyRequest, Error> {
    let (options, temp) = (&args.target_options, args.running.temp.as_deref());
    copy(&args.source, &args.target, options, &args.planning, temp)
}

/// A copy.
pub(crate) fn copy(
    source: &str,
    target: &str,
    target_args: &TargetArgs,
    planning_args: &PlanningArgs,
    temp: Option<&str>,
) -> Result<CopyRequest, Error> {
    let mut request = CopyRequest::new(source, target);
    request.keep_extent = target_args.keep_extent;
    request.chunk_bytes = bytes("--chunk-bytes", &target_args.chunk_bytes)?;
    request.format = target_args.format.as_deref().and_then(Format::from_name);
    request.axes = axes(target_args.axes.as_deref());
    request.raw = raw(&target_args.raw)?;
    request.source_format = source_format(&target_args.raw)?;
    request.separator = target_args.separator.as_deref().and_then(|sign| sign.chars().next());
    request.n5_version.clone_from(&target_args.n5_version);
    request.write_empty = WriteEmpty::from_name(&target_args.write_empty).unwrap_or_default();
    request.max_missing = parsed(target_args.max_missing.as_deref())?;
    request.planning = planning(planning_args)?;
    request.temp = temp.map(str::to_owned);
    // What is said of the array is read last.
    request.chunks = target_args.chunks.parse()?;
    request.shards = parsed(target_args.shards.as_deref())?;
    request.select = parsed(target_args.select.as_deref())?;
    request.cast = parsed(target_args.cast.as_deref())?;
    request.placement = placement(target_args)?;
    request.trust = patterns("--trust", &target_args.trust)?;
    request.codec = parsed(target_args.codec.as_deref())?;
    Ok(request)
}

/// Refuses options that choose among plans of copies, for `what` has plans of its own.
pub(crate) fn refuse_plan_options(args: &PlanningArgs, what: &str) -> Result<(), Error> {
    let given = [
        ("--strategy", args.strategy != "auto"),
        ("--intermediate", args.intermediate != "exact"),
        ("--box-bytes", args.box_bytes.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            Err(usage(format!("{option} is of copies: {what} has a plan of its own"), None))
        }
        None => Ok(()),
    }
}

/// Reads the value of an option, if it was given.
pub(crate) fn parsed<T: FromStr<Err = WordError>>(text: Option<&str>) -> Result<Option<T>, Error> {
    Ok(text.map(str::parse).transpose()?)
}

/// Reads the paths and patterns that were given to `option`.
fn patterns(option: &str, texts: &[String]) -> Result<Vec<PathPattern>, Error> {
    let read = |text: &String| text.parse().map_err(|error| Error::from(error).given_to(option));
    texts.iter().map(read).collect()
}

/// Place of the source in a target that exists.
fn placement(args: &TargetArgs) -> Result<Option<Placement>, Error> {
    match (&args.append, &args.region) {
        (Some(along), _) => Ok(Some(Placement::Append(along.clone()))),
        (None, Some(region)) => Placement::parse_region(region).map(Some),
        (None, None) => Ok(None),
    }
}

/// Reads the value of `--axes`.
pub(crate) fn axes(name: Option<&str>) -> Option<Axes> {
    name.and_then(Axes::from_name)
}

/// Description of files without a header.
pub(crate) fn raw(args: &RawArgs) -> Result<Option<RawFile>, Error> {
    let (Some(text), Some(data_type)) = (&args.shape, &args.dtype) else {
        return Ok(None);
    };
    let mut raw = RawFile::new(shape("--raw-shape", text)?, data_type);
    raw.is_fortran = args.order == "F";
    raw.is_big_endian = args.endian == "big";
    raw.offset_bytes = bytes("--raw-offset", &args.offset)?;
    Ok(Some(raw))
}

/// The format whose documents say what the source is, if it was said.
pub(crate) fn source_format(args: &RawArgs) -> Result<Option<Format>, Error> {
    match args.source_format.as_deref() {
        Some("raw") => Err(usage(
            "--source-format raw goes with --shape".to_owned(),
            Some("a file of elements alone is read with --raw-shape and --raw-dtype"),
        )),
        name => Ok(name.and_then(Format::from_name)),
    }
}

/// Options for opening an array.
pub(crate) fn open_options(name: Option<&str>, args: &RawArgs) -> Result<OpenOptions, Error> {
    let (raw, source_format) = (raw(args)?, source_format(args)?);
    let mut options = OpenOptions::default();
    options.axes = axes(name);
    options.raw = raw;
    options.source_format = source_format;
    Ok(options)
}

/// Which arrays of a group.
pub(crate) fn selection(args: &SelectionArgs) -> Result<Selection, Error> {
    let mut selection = Selection::default();
    selection.rules = args.var.iter().map(|text| text.parse()).collect::<Result<_, WordError>>()?;
    selection.include = patterns("--include", &args.include)?;
    selection.exclude = patterns("--exclude", &args.exclude)?;
    selection.coords = args.coords.as_deref().and_then(Coords::from_name);
    selection.no_others = args.no_others;
    selection.dialect = args.dialect.as_deref().and_then(Dialect::from_name);
    Ok(selection)
}

/// Options for running.
pub(crate) fn running(args: &RunningArgs) -> Running {
    let mut running = Running::new(match (args.overwrite, args.resume) {
        (true, _) => Existing::Overwrite,
        (_, true) => Existing::Resume,
        _ => Existing::Refuse,
    });
    running.verify = args.verify;
    running.keep_temp = args.keep_temp;
    running.durable = !args.no_fsync;
    running
}
