//! Opens a location and moves whole objects or ranges, counting every request and byte.
