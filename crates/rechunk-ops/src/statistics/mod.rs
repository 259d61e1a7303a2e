//! Values of the whole domain.
