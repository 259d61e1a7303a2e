//! For tests only: object stores on loopback that answer truthfully, late, wrongly or not at all.
