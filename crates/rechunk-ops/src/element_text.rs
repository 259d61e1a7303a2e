//! Elements from texts.

use rechunk_grid::DataType;

use crate::constant::Constant;
use crate::element::for_elements;
use crate::error::OpError;
use crate::settings::shortened;

/// One element of a type, in native byte order, from its text: `-1`, `0.5`, `nan`, `true`.
///
/// ```
/// use rechunk_grid::DataType;
/// assert_eq!(rechunk_ops::element("7", DataType::Uint8)?, [7]);
/// assert!(rechunk_ops::element("300", DataType::Uint8).is_err());
/// # Ok::<(), rechunk_ops::OpError>(())
/// ```
pub fn element(text: &str, data_type: DataType) -> Result<Vec<u8>, OpError> {
    let bad = || OpError::Syntax {
        text: shortened(text),
        reason: format!("it is no value of {data_type}"),
    };
    let constant = Constant::parse(text).ok_or_else(bad)?;
    for_elements!("element", data_type, T => {
        let element: T = constant.to_element().ok_or_else(bad)?;
        Ok(bytemuck::bytes_of(&element).to_vec())
    })
}
