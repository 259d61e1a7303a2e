//! Gives meaning to the arguments of `pyramid`.

use rechunk::{
    CopyRequest, Dialect, Error, Format, LevelSize, LevelsFrom, LevelsRequest, MissingCells,
    PyramidRequest, ReduceMethod, Rounding, WordError, WriteEmpty,
};

use crate::args::{LevelArgs, PyramidArgs};
use crate::request::{axes, bytes, parsed, planning, raw, refuse_plan_options, source_format};

/// The request of a pyramid.
pub(crate) fn of_pyramid(args: &PyramidArgs) -> Result<CopyRequest, Error> {
    let mut request = CopyRequest::new(&args.source, &args.target);
    let options = &args.target_options;
    request.chunk_bytes = bytes("--chunk-bytes", &options.chunk_bytes)?;
    request.chunks = options.chunks.parse()?;
    request.shards = parsed(options.shards.as_deref())?;
    request.format = options.format.as_deref().and_then(Format::from_name);
    request.codec = parsed(options.codec.as_deref())?;
    request.select = parsed(options.select.as_deref())?;
    request.cast = parsed(options.cast.as_deref())?;
    let separator = options.separator.as_deref().and_then(|sign| sign.chars().next());
    request.separator = separator;
    request.axes = axes(options.axes.as_deref());
    request.n5_version.clone_from(&options.n5_version);
    request.write_empty = WriteEmpty::from_name(&options.write_empty).unwrap_or_default();
    request.raw = raw(&options.raw)?;
    request.source_format = source_format(&options.raw)?;
    refuse_plan_options(&args.planning, "a pyramid")?;
    request.planning = planning(&args.planning)?;
    request.temp.clone_from(&args.running.temp);
    request.pyramid = Some(Box::new(levels(&args.levels)?));
    Ok(request)
}

fn levels(args: &LevelArgs) -> Result<PyramidRequest, Error> {
    let levels = match (&args.factors, args.levels, args.until) {
        (Some(text), _, _) => {
            let factors = text.parse().map_err(|error: WordError| Error::from(error));
            LevelsRequest::Factors(factors.map_err(|error| error.given_to("--factors"))?)
        }
        (None, Some(count), _) => LevelsRequest::Count(count),
        (None, None, until) => LevelsRequest::Until(until.unwrap_or(1)),
    };
    let mut pyramid = PyramidRequest::new(levels);
    pyramid.method = args.method.as_deref().and_then(ReduceMethod::from_name);
    pyramid.labels = args.labels;
    pyramid.size = LevelSize::from_name(&args.size).unwrap_or_default();
    pyramid.from = LevelsFrom::from_name(&args.from).unwrap_or_default();
    pyramid.rounding = Rounding::from_name(&args.round).unwrap_or_default();
    pyramid.missing = MissingCells::from_name(&args.missing).unwrap_or_default();
    pyramid.dialect = args.dialect.as_deref().and_then(Dialect::from_name);
    Ok(pyramid)
}
