//! Operations by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::OpError;
use crate::info::OperationInfo;
use crate::operation::Operation;
use crate::settings::{Settings, nearest, shortened};
use crate::{filters, pointwise, statistics};

/// Builds an operation from settings that it knows.
type Build = fn(&Settings<'_>) -> Result<Arc<dyn Operation>, OpError>;

/// All operations, in the order of the documentation.
const OPERATIONS: [(&OperationInfo, Build); 27] = [
    (&pointwise::identity::INFO, pointwise::identity::build),
    (&pointwise::cast::INFO, pointwise::cast::build),
    (&pointwise::rescale::INFO, pointwise::rescale::build),
    (&pointwise::clamp::INFO, pointwise::clamp::build),
    (&pointwise::threshold::INFO, pointwise::threshold::build),
    (&pointwise::equal::INFO, pointwise::equal::build),
    (&pointwise::replace::INFO, pointwise::replace::build),
    (&pointwise::invert::INFO, pointwise::invert::build),
    (&pointwise::table::LUT, pointwise::table::build_lut),
    (&pointwise::table::REMAP_LABELS, pointwise::table::build_remap_labels),
    (&pointwise::mask::MASK, pointwise::mask::build_mask),
    (&pointwise::mask::WHERE_MISSING, pointwise::mask::build_where_missing),
    (&filters::mean::INFO, filters::mean::build),
    (&filters::gaussian::INFO, filters::gaussian::build),
    (&filters::median::INFO, filters::median::build),
    (&filters::extremes::MIN, filters::extremes::build_min),
    (&filters::extremes::MAX, filters::extremes::build_max),
    (&filters::extremes::OPEN, filters::extremes::build_open),
    (&filters::extremes::CLOSE, filters::extremes::build_close),
    (&filters::derivative::SOBEL, filters::derivative::build_sobel),
    (&filters::derivative::GRADIENT_MAGNITUDE, filters::derivative::build_gradient_magnitude),
    (&filters::derivative::LAPLACIAN, filters::derivative::build_laplacian),
    (&filters::dog::INFO, filters::dog::build),
    (&statistics::histogram::INFO, statistics::histogram::build),
    (&statistics::summary::INFO, statistics::summary::build),
    (&statistics::unique::INFO, statistics::unique::build),
    (&statistics::checksum::INFO, statistics::checksum::build),
];

/// Descriptions of all operations, in the order of the documentation.
///
/// ```
/// let gaussian = rechunk_ops::operations().find(|info| info.name == "gaussian").unwrap();
/// assert_eq!(gaussian.parameters[0].name, "sigma");
/// ```
pub fn operations() -> impl Iterator<Item = &'static OperationInfo> {
    OPERATIONS.iter().map(|(info, _)| *info)
}

/// Builds an operation. Refuses unknown names and settings, with the nearest known one, and values
/// that a setting cannot have.
///
/// ```
/// use rechunk_grid::DataType;
/// use rechunk_ops::{BoxView, TaskContext, operation, parse_settings};
///
/// let (name, settings) = parse_settings("clamp:min=10,max=20")?;
/// let clamp = operation(&name, &settings)?;
/// assert_eq!(clamp.identity(), "clamp/1:min=10,max=20");
/// assert_eq!(clamp.output_type(DataType::Uint8)?, DataType::Uint8);
///
/// let (shape, elements, mut out) = ([2, 2], [3, 12, 20, 77], [0; 4]);
/// let input = BoxView::new(DataType::Uint8, &shape, &elements);
/// clamp.run(&[input], &mut out, &TaskContext::whole(&shape))?;
/// assert_eq!(out, [10, 12, 20, 20]);
///
/// let error = operation("gausian", &settings).unwrap_err().to_string();
/// assert!(error.contains("did you mean `gaussian`?"), "{error}");
/// # Ok::<(), rechunk_ops::OpError>(())
/// ```
pub fn operation(
    name: &str,
    settings: &BTreeMap<String, String>,
) -> Result<Arc<dyn Operation>, OpError> {
    let known = OPERATIONS.iter().find(|(info, _)| info.name == name);
    let Some((info, build)) = known else {
        let names: Vec<_> = operations().map(|info| info.name).collect();
        return Err(OpError::UnknownOperation {
            name: shortened(name),
            nearest: nearest(name, &names),
            known: names.join(", "),
        });
    };
    build(&Settings::new(info, settings)?)
}

/// Splits `NAME[:key=value,…]`. A part without `=` goes on with the value before it, so that a
/// value may be a list.
///
/// ```
/// let (name, settings) = rechunk_ops::parse_settings("gaussian:sigma=1,2,2,truncate=3")?;
/// assert_eq!(name, "gaussian");
/// assert_eq!((settings["sigma"].as_str(), settings["truncate"].as_str()), ("1,2,2", "3"));
/// # Ok::<(), rechunk_ops::OpError>(())
/// ```
pub fn parse_settings(text: &str) -> Result<(String, BTreeMap<String, String>), OpError> {
    let syntax =
        |reason: &str| OpError::Syntax { text: shortened(text), reason: reason.to_owned() };
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let name = name.trim();
    if name.is_empty() {
        return Err(syntax("the name is missing"));
    }
    let mut settings = BTreeMap::new();
    let mut last: Option<String> = None;
    for part in rest.split(',').filter(|_| !rest.trim().is_empty()) {
        match (part.split_once('='), &last) {
            (Some((key, value)), _) => {
                let key = key.trim().to_owned();
                if settings.insert(key.clone(), value.trim().to_owned()).is_some() {
                    return Err(syntax(&format!("`{}` is given twice", shortened(&key))));
                }
                last = Some(key);
            }
            (None, Some(key)) => {
                let value: &mut String = settings.entry(key.clone()).or_default();
                value.push(',');
                value.push_str(part.trim());
            }
            (None, None) => {
                return Err(syntax(&format!("`{}` has no `=`", shortened(part.trim()))));
            }
        }
    }
    Ok((name.to_owned(), settings))
}
