//! Gives meaning to the options of a pyramid.

use rechunk::{
    CopyRequest, Dialect, Error, Format, LevelFactors, LevelSize, LevelsFrom, LevelsRequest,
    MissingCells, PyramidRequest, ReduceMethod, Rounding,
};

use crate::options::{Options, given_to, wrong};
use crate::request::{array_options, planning, refuse_plan_options, separator};

const FORMATS: [&str; 3] = ["zarr3", "zarr2", "n5"];
const METHODS: &str = "mean, mode, median, min, max, stride, gaussian";
const DIALECTS: &str =
    "ome-zarr-0.4, ome-zarr-0.5, ome-zarr-0.6, bdv-n5, n5-viewer, geozarr, plain";

/// The pyramid of the image at `source`, written into the image at `target`.
pub(crate) fn pyramid(
    source: &str,
    target: &str,
    options: &mut Options,
) -> Result<CopyRequest, Error> {
    if target.is_empty() {
        return Err(wrong("target", "there is none", Some("name an image to be written")));
    }
    let mut request = CopyRequest::new(source, target);
    request.pyramid = Some(Box::new(settings(options)?));
    array_options(&mut request, options)?;
    request.chunk_bytes = options.bytes("chunk_bytes")?.unwrap_or(request.chunk_bytes);
    // Those that have groups.
    let format = |name: &str| Format::from_name(name).filter(|_| FORMATS.contains(&name));
    request.format = options.choice("format", format, &FORMATS.join(", "))?;
    request.select = options.parsed("select")?;
    request.separator = separator(options)?;
    request.n5_version = options.text("n5_version");
    let of_copies = ["strategy", "intermediate", "box_bytes", "workers"];
    refuse_plan_options(options, &of_copies, "a pyramid")?;
    request.planning = planning(options)?;
    request.temp = options.text("temp");
    Ok(request)
}

/// The levels, and how their elements are made.
fn settings(options: &mut Options) -> Result<PyramidRequest, Error> {
    let mut pyramid = PyramidRequest::new(levels(options)?);
    pyramid.method = options.choice("method", ReduceMethod::from_name, METHODS)?;
    pyramid.labels = options.flag("labels")?;
    pyramid.size = options.choice("size", LevelSize::from_name, "floor, ceil")?.unwrap_or_default();
    pyramid.from =
        options.choice("from_", LevelsFrom::from_name, "s0, previous")?.unwrap_or_default();
    pyramid.rounding = options
        .choice("round", Rounding::from_name, "half-away, half-even, down")?
        .unwrap_or_default();
    pyramid.missing =
        options.choice("missing", MissingCells::from_name, "fill, skip")?.unwrap_or_default();
    pyramid.dialect = options.choice("as_", Dialect::from_name, DIALECTS)?;
    Ok(pyramid)
}

/// The levels that are wanted, by one of three options.
fn levels(options: &mut Options) -> Result<LevelsRequest, Error> {
    let factors = options.lists("factors").map(|levels| levels.join(";").parse::<LevelFactors>());
    let factors = factors.transpose().map_err(|error| given_to(error, "factors"))?;
    let (count, until) = (options.number("levels", &1)?, options.number("until", &1)?);
    let both = |name: &str, other: &str| wrong(name, &format!("it cannot go with {other}"), None);
    match (factors, count, until) {
        (Some(factors), None, None) => Ok(LevelsRequest::Factors(factors)),
        (None, Some(count), None) => Ok(LevelsRequest::Count(count)),
        (None, None, Some(extent)) => Ok(LevelsRequest::Until(extent)),
        (Some(_), Some(_), _) => Err(both("levels", "factors")),
        (Some(_), None, Some(_)) => Err(both("until", "factors")),
        (None, Some(_), Some(_)) => Err(both("until", "levels")),
        (None, None, None) => {
            let hint = "give factors=, levels=, or until=, the longest axis of the last level";
            Err(wrong("factors", "no levels are asked for", Some(hint)))
        }
    }
}
