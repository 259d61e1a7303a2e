//! Gives meaning to options: they become the library's requests.

use rechunk::{
    Axes, Coords, CopyRequest, Dialect, Error, Existing, Format, IntermediateGrid, OpenOptions,
    PathPattern, Placement, Planning, ProfileFile, RawFile, Running, Selection, StoreOptions,
    Stores, Strategy, WriteEmpty,
};

use crate::options::{Options, wrong};

pub(crate) const FORMATS: &str = "zarr3, zarr2, n5, precomputed, raw, npy, nii";

/// A copy, and which arrays of a group are copied.
pub(crate) fn copy(
    source: &str,
    target: &str,
    options: &mut Options,
) -> Result<(CopyRequest, Selection), Error> {
    let mut request = CopyRequest::new(source, target);
    array_options(&mut request, options)?;
    request.keep_extent = options.flag("keep_extent")?;
    request.chunk_bytes = options.bytes("chunk_bytes")?.unwrap_or(request.chunk_bytes);
    request.format = options.choice("format", Format::from_name, FORMATS)?;
    request.separator = separator(options)?;
    request.n5_version = options.text("n5_version");
    request.max_missing = options.parsed("max_missing")?;
    request.planning = planning(options)?;
    request.temp = options.text("temp");
    request.select = options.parsed("select")?;
    request.placement = placement(options)?;
    request.trust = patterns("trust", options)?;
    Ok((request, selection(options)?))
}

/// Takes options of arrays that all jobs have: how to open the source, how to make the target.
pub(crate) fn array_options(request: &mut CopyRequest, options: &mut Options) -> Result<(), Error> {
    if let Some(chunks) = options.parsed("chunks")? {
        request.chunks = chunks;
    }
    request.shards = options.parsed("shards")?;
    request.codec = options.parsed("codec")?;
    request.cast = options.parsed("cast")?;
    request.write_empty = options
        .choice("write_empty", WriteEmpty::from_name, "auto, always, never")?
        .unwrap_or_default();
    let open = open_options(options)?;
    (request.axes, request.raw, request.source_format) = (open.axes, open.raw, open.source_format);
    Ok(())
}

/// Sign between the numbers in the names of chunks.
pub(crate) fn separator(options: &mut Options) -> Result<Option<char>, Error> {
    let sign = |text: &str| [".", "/"].contains(&text).then(|| text.chars().next()).flatten();
    options.choice("separator", sign, "'.', '/'")
}

/// Options of planning.
pub(crate) fn planning(options: &mut Options) -> Result<Planning, Error> {
    let strategies = "auto, passthrough, direct, keep, pull, push-pull, multistage, memory";
    let mut planning = verifying(options)?;
    planning.concurrency = options.number("concurrency", &1)?;
    planning.strategy =
        options.choice("strategy", Strategy::from_name, strategies)?.unwrap_or(Strategy::Auto);
    planning.intermediate_grid = options
        .choice("intermediate", IntermediateGrid::from_name, "exact, min")?
        .unwrap_or_default();
    planning.box_bytes = options.bytes("box_bytes")?;
    planning.workers = options.number("workers", &1)?.unwrap_or(1);
    planning.profiles =
        ["source_profile", "temp_profile", "target_profile"].map(|name| options.text(name));
    let profile = options.text("profile");
    planning.profile = profile.as_deref().map(ProfileFile::read).transpose()?;
    Ok(planning)
}

/// Refuses `names`, which are options of copies, in `job`: "an apply".
pub(crate) fn refuse_plan_options(
    options: &mut Options,
    names: &[&'static str],
    job: &str,
) -> Result<(), Error> {
    for name in names {
        if options.text(name).is_some() {
            let text = format!("it is of copies: {job} has a plan of its own");
            return Err(wrong(name, &text, None));
        }
    }
    Ok(())
}

/// Options of planning that a comparison has, too.
pub(crate) fn verifying(options: &mut Options) -> Result<Planning, Error> {
    let mut planning = Planning::default();
    planning.memory_bytes = options.bytes("max_mem")?;
    planning.threads = options.number("threads", &1)?;
    Ok(planning)
}

fn placement(options: &mut Options) -> Result<Option<Placement>, Error> {
    match (options.text("append"), options.text("region")) {
        (Some(_), Some(_)) => Err(wrong("append", "it cannot go with region", None)),
        (Some(along), None) => Ok(Some(Placement::Append(along))),
        (None, Some(region)) => Placement::parse_region(&region).map(Some),
        (None, None) => Ok(None),
    }
}

fn patterns(name: &'static str, options: &mut Options) -> Result<Vec<PathPattern>, Error> {
    let texts = options.texts(name, |key, _| key.to_owned());
    let read = |text: &String| text.parse().map_err(|error| Error::from(error).given_to(name));
    texts.iter().map(read).collect()
}

fn selection(options: &mut Options) -> Result<Selection, Error> {
    // Of a dict: {'air/*': {'chunks': (-1, 30, 30)}} is the rule `air/*: chunks -1,30,30`.
    let rule = |glob: &str, settings: &str| {
        let (setting, value) = settings.split_once('=').unwrap_or((settings, ""));
        format!("{glob}: {} {value}", setting.replace('_', "-")).trim_end().to_owned()
    };
    let mut selection = Selection::default();
    let rules = options.texts("var", rule);
    selection.rules = rules.iter().map(|text| Ok(text.parse()?)).collect::<Result<_, Error>>()?;
    selection.include = patterns("include", options)?;
    selection.exclude = patterns("exclude", options)?;
    selection.coords = options.choice("coords", Coords::from_name, "single, keep, follow")?;
    selection.no_others = options.flag("no_others")?;
    let versions = "ome-zarr-0.4, ome-zarr-0.5, ome-zarr-0.6";
    selection.dialect = options.choice("as_", Dialect::from_name, versions)?;
    Ok(selection)
}

/// Options for opening what is read.
pub(crate) fn open_options(options: &mut Options) -> Result<OpenOptions, Error> {
    let mut open = OpenOptions::default();
    open.axes = options.choice("axes", Axes::from_name, "reverse, keep")?;
    open.raw = raw(options)?;
    open.source_format = options.choice("source_format", Format::from_name, FORMATS)?;
    Ok(open)
}

/// Description of a file without a header.
fn raw(options: &mut Options) -> Result<Option<RawFile>, Error> {
    let (shape, data_type) = (options.text("raw_shape"), options.text("raw_dtype"));
    let order = options.choice("raw_order", |name| one_of(name, ["C", "F"]), "C, F")?;
    let both = ["little", "big"];
    let endian = options.choice("raw_endian", |name| one_of(name, both), "little, big")?;
    let offset_bytes = options.bytes("raw_offset")?;
    let (Some(shape), Some(data_type)) = (&shape, &data_type) else {
        return match shape.or(data_type) {
            None => Ok(None),
            Some(_) => Err(wrong(
                "raw_shape",
                "a file without a header needs raw_shape and raw_dtype",
                None,
            )),
        };
    };
    let extents = shape.split(',').map(|extent| extent.trim().parse());
    let extents = extents
        .collect::<Result<Vec<u64>, _>>()
        .map_err(|_| wrong("raw_shape", &format!("`{shape}` is not a shape"), None))?;
    let mut raw = RawFile::new(extents, data_type);
    (raw.is_fortran, raw.is_big_endian) = (order == Some(1), endian == Some(1));
    raw.offset_bytes = offset_bytes.unwrap_or(0);
    Ok(Some(raw))
}

fn one_of(name: &str, names: [&str; 2]) -> Option<usize> {
    names.iter().position(|known| *known == name)
}

/// Options for running.
pub(crate) fn running(options: &mut Options) -> Result<Running, Error> {
    let existing = match (options.flag("overwrite")?, options.flag("resume")?) {
        (true, true) => return Err(wrong("overwrite", "it cannot go with resume", None)),
        (true, false) => Existing::Overwrite,
        (false, true) => Existing::Resume,
        (false, false) => Existing::Refuse,
    };
    let mut running = Running::new(existing);
    running.verify = options.flag("verify")?;
    running.keep_temp = options.flag("keep_temp")?;
    running.durable = !options.flag("no_fsync")?;
    Ok(running)
}

/// Takes all options that are left: how to run, whether to plan only, and the stores.
pub(crate) fn run_options(
    options: &mut Options,
    concurrency: Option<u32>,
) -> Result<(Running, bool, Stores), Error> {
    let running = running(options)?;
    let is_dry = options.flag("dry_run")?;
    let stores = opener(stores(options)?, concurrency);
    options.end()?;
    Ok((running, is_dry, stores))
}

/// Options of stores, taken.
pub(crate) fn stores(options: &mut Options) -> Result<StoreOptions, Error> {
    let mut found = StoreOptions::default();
    // {'endpoint': X} is for all stores, {'s3://bucket': {'endpoint': X}} for some.
    let pair = |key: &str, value: &str| {
        let sign = if key.contains("://") { ',' } else { '=' };
        format!("{key}{sign}{value}")
    };
    for option in options.texts("store_option", pair) {
        found.add(&option).map_err(|error| wrong("store_option", &error.to_string(), None))?;
    }
    if let Some(max_retries) = options.number("max_retries", &0)? {
        found = found.with_max_retries(max_retries);
    }
    if let Some(timeout) = options.duration("timeout")? {
        found = found.with_timeout(timeout);
    }
    if let Some(rate) = options.bytes("bwlimit")? {
        if rate == 0 {
            return Err(wrong("bwlimit", "nothing can be moved at 0 bytes a second", None));
        }
        found = found.with_bytes_per_second(rate);
    }
    Ok(found)
}

/// The opener of stores that get no more than `concurrency` requests at once.
pub(crate) fn opener(options: StoreOptions, concurrency: Option<u32>) -> Stores {
    Stores::new(match concurrency {
        Some(concurrency) => options.with_concurrency(concurrency),
        None => options,
    })
}
