//! Has the linker leave Python's own names open, where it would refuse them (macOS).

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
