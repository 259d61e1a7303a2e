//! Choices for an image that is written: its metadata, the format of its arrays, and the method.

use rechunk_image::{AxisKind, Container, Dialect, Image, Level, documents};
use rechunk_reduce::Method;

use super::PyramidRequest;
use super::image::{ImageGroup, SourceImage};
use crate::formats::{Fact, Format};
use crate::request::CopyRequest;
use crate::{Axes, Error};

/// The metadata that is written, and the format of the arrays.
pub(super) fn dialect_of(
    request: &CopyRequest,
    pyramid: &PyramidRequest,
    image: &SourceImage,
    there: Option<&ImageGroup>,
    warnings: &mut Vec<String>,
) -> Result<(Dialect, Format), Error> {
    if let Some(group) = there {
        let (dialect, format) = (group.found.dialect, group.format);
        let asked = (pyramid.dialect.unwrap_or(dialect), request.format.unwrap_or(format));
        if format.has(Fact::Levels) {
            return Err(Error::Usage {
                message: format!(
                    "levels cannot be added to {}: its document describes all of them, and others may \
                     change it too",
                    group.location
                ),
                hint: Some("name another target, for a volume of its own".into()),
            });
        }
        if asked != (dialect, format) {
            return Err(Error::Usage {
                message: format!(
                    "the image is {} in {}, not {} in {}",
                    dialect.name(),
                    format.name(),
                    asked.0.name(),
                    asked.1.name()
                ),
                hint: Some("levels that are added are described as the others".into()),
            });
        }
        return Ok((dialect, format));
    }
    let by_name = request.format.unwrap_or_else(|| Format::of_target(&request.target));
    if !by_name.takes_groups() {
        return Err(Error::Usage {
            message: format!("an image of several levels cannot be written as {}", by_name.name()),
            hint: Some("name a target that ends in .zarr or .n5".into()),
        });
    }
    let usual = by_name.usual_dialect();
    let dialect = match pyramid.dialect {
        Some(dialect) => dialect,
        None if can_say(usual, image) => usual,
        None => {
            let axes: Vec<&str> = image.axes.iter().map(|axis| axis.name.as_str()).collect();
            warnings.push(format!(
                "{} cannot say the axes {}: the levels are plain arrays of a group",
                usual.name(),
                axes.join(", ")
            ));
            Dialect::Plain
        }
    };
    let format = Format::of_images(dialect.container()).unwrap_or(by_name);
    if dialect.container() == Container::N5 && request.axes == Some(Axes::Keep) {
        return Err(Error::Usage {
            message: format!("{} has its axes in the order x, y, z", dialect.name()),
            hint: Some("leave the order of axes out".into()),
        });
    }
    if request.format.is_some_and(|asked| asked != format) || !format.takes_groups() {
        return Err(Error::Usage {
            message: format!("{} cannot be written as {}", dialect.name(), by_name.name()),
            hint: Some(format!("leave the format out: it lies in {}", format.name()).into()),
        });
    }
    Ok((dialect, format))
}

/// Whether a dialect can say the axes of an image.
fn can_say(dialect: Dialect, image: &SourceImage) -> bool {
    let level = Level {
        path: "s0".to_owned(),
        factors: vec![1; image.axes.len()],
        scale: image.scale.clone(),
        translation: image.translation.clone(),
        shape: image.array.spec().shape.clone(),
    };
    let one = Image {
        name: image.name.clone(),
        axes: image.axes.clone(),
        levels: vec![level],
        data_type: image.array.spec().data_type.name(),
        ..Image::default()
    };
    documents(&one, dialect).is_ok() && split_axes(dialect, image).is_ok()
}

/// Number of first axes of which every index has arrays of its own.
pub(super) fn split_axes(dialect: Dialect, image: &SourceImage) -> Result<usize, Error> {
    if dialect != Dialect::BdvN5 {
        return Ok(0);
    }
    let split = image.axes.iter().position(|axis| axis.kind == AxisKind::Space).unwrap_or(0);
    if image.axes[split..].iter().all(|axis| axis.kind == AxisKind::Space) {
        return Ok(split);
    }
    let names: Vec<&str> = image.axes.iter().map(|axis| axis.name.as_str()).collect();
    Err(Error::Usage {
        message: format!(
            "{} has times and channels before the axes of space, and the image has {}",
            dialect.name(),
            names.join(", ")
        ),
        hint: Some("write `plain`".into()),
    })
}

/// The rule by which elements become fewer.
pub(super) fn method_of(
    pyramid: &PyramidRequest,
    image: &SourceImage,
    warnings: &mut Vec<String>,
) -> Method {
    let data_type = image.array.spec().data_type;
    let usual = Method::usual(data_type);
    let is_label = pyramid.labels || image.is_label;
    match pyramid.method {
        Some(method) => {
            if is_label && matches!(method, Method::Mean | Method::Gaussian) {
                warnings.push(format!(
                    "elements are labels, and `{}` makes numbers that are none of them",
                    method.name()
                ));
            }
            method
        }
        None if is_label => Method::Mode,
        None => {
            if usual == Method::Mode {
                warnings.push(format!(
                    "elements of type {data_type} are taken for labels: the method is `mode`"
                ));
            }
            usual
        }
    }
}
