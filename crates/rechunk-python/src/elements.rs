//! Memory that arrays of NumPy look at.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rechunk::{DataType, numpy_type};

/// Elements in C order without gaps. An array of NumPy made of them (`numpy.asarray`) looks at this
/// memory and keeps it, however long it lives.
#[pyclass(frozen, module = "rechunk._rechunk")]
pub(crate) struct Elements {
    /// None when they were taken out.
    bytes: Mutex<Option<Vec<u8>>>,
    shape: Vec<u64>,
    kind: String,
    is_read_only: bool,
}

impl Elements {
    /// Elements that nobody changes; `None` if NumPy has no such type.
    pub(crate) fn to_be_read(bytes: Vec<u8>, shape: Vec<u64>, data_type: DataType) -> Option<Self> {
        let kind = numpy_type(data_type)?;
        Some(Self { bytes: Mutex::new(Some(bytes)), shape, kind, is_read_only: true })
    }

    /// Zeros to be written over; `None` if NumPy has no such type, or there is no room for them.
    pub(crate) fn to_be_written(shape: Vec<u64>, data_type: DataType) -> Option<Self> {
        let kind = numpy_type(data_type)?;
        let bytes = shape.iter().try_fold(data_type.item_bytes(), |n, &axis| n.checked_mul(axis));
        let bytes = usize::try_from(bytes?).ok().filter(|&bytes| isize::try_from(bytes).is_ok())?;
        Some(Self { bytes: Mutex::new(Some(vec![0; bytes])), shape, kind, is_read_only: false })
    }

    /// Takes the elements out. No array may look at them any longer, and none is made any more.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }
}

#[pymethods]
impl Elements {
    /// Says to NumPy where the elements are (its array interface, version 3).
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(bytes) = bytes.as_mut() else {
            return Err(PyValueError::new_err("the elements were taken out"));
        };
        let place = bytes.as_mut_ptr().expose_provenance();
        let said = PyDict::new(py);
        said.set_item("version", 3)?;
        said.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        said.set_item("typestr", &self.kind)?;
        said.set_item("data", (place, self.is_read_only))?;
        Ok(said)
    }
}
